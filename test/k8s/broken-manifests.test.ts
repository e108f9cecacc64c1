import { describe, expect, test } from "vitest";
import { policies } from "./policies/all-policies.ts";
import type { KubernetesObject } from "./support/kubernetes-object.ts";
import { noRenderer, render, renderer } from "./support/render.ts";

type Name = keyof typeof policies;

/** An object that is broken on purpose: nothing is known of its shape. */
// oxlint-disable-next-line typescript/no-explicit-any
type Broken = any;

/** A check, what is broken, and what the check says of it. */
type Break = readonly [Name, string, (find: Find, objects: KubernetesObject[]) => void, string];

/** Finds the object of a kind and a name. */
type Find = (kind: string, name: string) => Broken;

const pod = (object: Broken): Broken => object.spec.template.spec;
const container = (object: Broken): Broken => pod(object).containers[0];
const variable = (object: Broken, name: string): Broken =>
  container(object).env.find((one: Broken) => one.name === name);
const remove = (objects: KubernetesObject[], kind: string, name: string) => {
  const index = objects.findIndex((one) => one.kind === kind && one.metadata.name === name);
  objects.splice(index, 1);
};

const breaks: readonly Break[] = [
  [
    "schema",
    "a field that there is not",
    (find) => (find("Deployment", "gateway").spec.replica = 1),
    "replica",
  ],
  [
    "schema",
    "a field deep inside that there is not",
    (find) => (container(find("Deployment", "gateway")).securityContext.readOnly = true),
    "readOnly",
  ],
  [
    "schema",
    "a number that is a text",
    (find) => (container(find("Deployment", "gateway")).ports[0].containerPort = "80"),
    "must be number",
  ],
  [
    "schema",
    "a field that is missing",
    (find) => delete find("Deployment", "gateway").spec.selector,
    "'selector'",
  ],
  [
    "schema",
    "a kind that there is not",
    (find) => (find("Deployment", "gateway").kind = "Deploy"),
    "nobody knows",
  ],
  [
    "schema",
    "a version that there is not",
    (find) => (find("ScaledObject", "toolhost").apiVersion = "keda.sh/v1"),
    "nobody knows",
  ],
  [
    "schema",
    "a field that a custom resource has not",
    (find) => (find("ScaledObject", "toolhost").spec.min = 1),
    "min",
  ],
  [
    "schema",
    "a field of a pod inside a custom resource that there is not",
    (find) => (find("SandboxTemplate", "sandbox").spec.podTemplate.spec.hostNet = true),
    "hostNet",
  ],
  [
    "schema",
    "a route that is no list",
    (find) => (find("GRPCRoute", "grpc").spec.rules = {}),
    "must be array",
  ],
  [
    "podSecurity",
    "root",
    (find) => delete pod(find("Deployment", "gateway")).securityContext.runAsNonRoot,
    "may run as root",
  ],
  [
    "podSecurity",
    "a root to write on",
    (find) =>
      (container(find("Deployment", "runtime")).securityContext.readOnlyRootFilesystem = false),
    "may write",
  ],
  [
    "podSecurity",
    "capabilities",
    (find) => (container(find("Job", "provision")).securityContext.capabilities = {}),
    "has capabilities",
  ],
  [
    "podSecurity",
    "no seccomp profile",
    (find) => delete pod(find("Deployment", "toolhost")).securityContext.seccompProfile,
    "no seccomp profile",
  ],
  [
    "podSecurity",
    "a folder of the host",
    (find) =>
      pod(find("Deployment", "toolhost")).volumes.push({ name: "x", hostPath: { path: "/" } }),
    "of its host",
  ],
  [
    "podSecurity",
    "a volume without a limit",
    (find) => pod(find("Deployment", "toolhost")).volumes.push({ name: "x", emptyDir: {} }),
    "no limit for x",
  ],
  [
    "podSecurity",
    "a namespace that enforces less",
    (find) =>
      (find("Namespace", "reeve").metadata.labels["pod-security.kubernetes.io/enforce"] =
        "baseline"),
    "does not enforce",
  ],
  [
    "identity",
    "service links",
    (find) => delete pod(find("Deployment", "gateway")).enableServiceLinks,
    "variables of every service",
  ],
  [
    "identity",
    "a token",
    (find) => (pod(find("Deployment", "gateway")).automountServiceAccountToken = true),
    "has a token",
  ],
  [
    "identity",
    "no account of its own",
    (_, objects) => remove(objects, "ServiceAccount", "runtime"),
    "no service account",
  ],
  [
    "images",
    "the latest image",
    (find) => (container(find("Deployment", "gateway")).image = "reeve:latest"),
    "no certain version",
  ],
  [
    "images",
    "an image without a version",
    (find) => (container(find("Deployment", "gateway")).image = "host:5000/reeve"),
    "no certain version",
  ],
  [
    "resources",
    "a container without a request",
    (find) => delete container(find("Deployment", "gateway")).resources.requests.cpu,
    "requests no cpu",
  ],
  [
    "resources",
    "memory beyond what was asked for",
    (find) => (container(find("Deployment", "gateway")).resources.limits.memory = "9Gi"),
    "did not ask for",
  ],
  [
    "resources",
    "volumes larger than the limit",
    (find) => (pod(find("Deployment", "toolhost")).volumes[0].emptyDir.sizeLimit = "50Gi"),
    "evicted",
  ],
  [
    "probes",
    "a probe at a port that there is not",
    (find) => (container(find("Deployment", "gateway")).readinessProbe.grpc.port = 9),
    "no port for its readiness",
  ],
  [
    "probes",
    "no liveness probe",
    (find) => delete container(find("Deployment", "runtime")).livenessProbe,
    "no liveness probe",
  ],
  [
    "probes",
    "a liveness that depends on NATS",
    (find) => (container(find("Deployment", "runtime")).livenessProbe.grpc.service = "readiness"),
    "another name than liveness",
  ],
  [
    "grace",
    "less grace than drain",
    (find) => (pod(find("Deployment", "toolhost")).terminationGracePeriodSeconds = 300),
    "has 300 s to end and may need 335",
  ],
  [
    "grace",
    "a longer drain",
    (find) => (variable(find("Deployment", "runtime"), "REEVE_DRAIN_MS").value = "600000"),
    "may need 635",
  ],
  [
    "grace",
    "no rest before the end",
    (find) => delete container(find("Deployment", "gateway")).lifecycle,
    "clients still know it",
  ],
  [
    "rollout",
    "fewer pods while they are replaced",
    (find) => (find("Deployment", "gateway").spec.strategy.rollingUpdate.maxUnavailable = 1),
    "is less",
  ],
  [
    "rollout",
    "pods that are not spread",
    (find) => (pod(find("Deployment", "gateway")).topologySpreadConstraints = []),
    "not spread",
  ],
  [
    "disruption",
    "no budget",
    (_, objects) => remove(objects, "PodDisruptionBudget", "approvals"),
    "has 0 disruption budgets",
  ],
  [
    "disruption",
    "a budget that selects nothing",
    (find) => (find("PodDisruptionBudget", "gateway").spec.selector.matchLabels = { app: "x" }),
    "has 0 disruption budgets",
  ],
  [
    "disruption",
    "a budget that keeps broken pods",
    (find) => delete find("PodDisruptionBudget", "gateway").spec.unhealthyPodEvictionPolicy,
    "keeps pods that are broken",
  ],
  [
    "defaultDeny",
    "no default-deny",
    (_, objects) => remove(objects, "NetworkPolicy", "default-deny"),
    "namespace reeve has no default-deny",
  ],
  [
    "defaultDeny",
    "a default-deny that lets all out",
    (find) => (find("NetworkPolicy", "default-deny").spec.policyTypes = ["Ingress"]),
    "no default-deny",
  ],
  [
    "networkSelectors",
    "a policy for nobody",
    (find) => (find("NetworkPolicy", "approvals").spec.podSelector.matchLabels = { app: "x" }),
    "is for no pod",
  ],
  [
    "networkSelectors",
    "a peer that there is not",
    (find) =>
      (find("NetworkPolicy", "approvals").spec.ingress[0].from[0].podSelector.matchLabels = {
        app: "x",
      }),
    "a peer that there is not",
  ],
  [
    "networkSelectors",
    "a port that there is not",
    (find) => (find("NetworkPolicy", "approvals").spec.ingress[0].ports[0].port = 1),
    "allows port 1",
  ],
  [
    "networkSelectors",
    "everybody",
    (find) => delete find("NetworkPolicy", "approvals").spec.ingress[0].from,
    "lets everybody in",
  ],
  [
    "networkSelectors",
    "everywhere",
    (find) => delete find("NetworkPolicy", "nats").spec.egress[0].to,
    "lets everything out",
  ],
  [
    "internet",
    "a toolhost on the internet",
    (find) =>
      (find("NetworkPolicy", "runtime").spec.podSelector.matchLabels = {
        "app.kubernetes.io/name": "toolhost",
      }),
    "to others",
  ],
  [
    "internet",
    "the metadata of the cloud",
    (find) => find("NetworkPolicy", "runtime").spec.egress[0].to[0].ipBlock.except.splice(2, 1),
    "opens 169.254.0.0/16",
  ],
  [
    "selectors",
    "a selector that finds nothing",
    (find) => (find("Deployment", "gateway").spec.selector.matchLabels = { app: "x" }),
    "selects nothing",
  ],
  [
    "selectors",
    "a selector that finds others",
    (find) => (find("Deployment", "gateway").spec.selector.matchLabels = {}),
    "selects Deployment approvals",
  ],
  [
    "selectors",
    "a service without pods",
    (find) => (find("Service", "gateway").spec.selector = { app: "x" }),
    "selects nothing",
  ],
  [
    "selectors",
    "a service for a port that there is not",
    (find) => (find("Service", "gateway").spec.ports[0].targetPort = "grpc"),
    "leads to a port",
  ],
  [
    "selectors",
    "a monitor that misses a service",
    (find) => find("PodMonitor", "reeve").spec.podMetricsEndpoints.pop(),
    "does not read Deployment",
  ],
  [
    "replicas",
    "a number beside an autoscaler",
    (find) => (find("Deployment", "toolhost").spec.replicas = 2),
    "takes its pods back",
  ],
  [
    "replicas",
    "two autoscalers",
    (find) => (find("HorizontalPodAutoscaler", "gateway").spec.scaleTargetRef.name = "toolhost"),
    "is scaled by",
  ],
  [
    "replicas",
    "an autoscaler of nothing",
    (find) => (find("ScaledObject", "toolhost").spec.scaleTargetRef.name = "hosts"),
    "which there is not",
  ],
  [
    "replicas",
    "no number at all",
    (find) => delete find("Deployment", "approvals").spec.replicas,
    "how many pods",
  ],
  [
    "queues",
    "another stream",
    (find) => (find("ScaledObject", "toolhost").spec.triggers[0].metadata.stream = "CALLS"),
    "another stream than TOOL_CALLS",
  ],
  [
    "queues",
    "another consumer",
    (find) => (find("ScaledObject", "toolhost").spec.triggers[0].metadata.consumer = "toolhost"),
    "another consumer than default",
  ],
  [
    "queues",
    "a pool that nobody scales",
    (_, objects) => remove(objects, "ScaledObject", "toolhost"),
    "not scaled by its queue",
  ],
  [
    "queues",
    "a pool that nobody provisions",
    (find) => (variable(find("Job", "provision"), "REEVE_POOLS").value = "large"),
    "nobody provisions pool default",
  ],
  [
    "queues",
    "a threshold above what a pod does",
    (find) => (find("ScaledObject", "runtime").spec.triggers[0].metadata.lagThreshold = "1000"),
    "only after calls wait",
  ],
  [
    "queues",
    "no fallback",
    (find) => delete find("ScaledObject", "runtime").spec.fallback,
    "while NATS is silent",
  ],
  [
    "queues",
    "a service that picks one server",
    (find) =>
      (find("ScaledObject", "runtime").spec.triggers[0].metadata.natsServerMonitoringEndpoint =
        "nats.nats.svc:8222"),
    "asks one server",
  ],
  [
    "settings",
    "a setting that there is not",
    (find) => container(find("Deployment", "gateway")).env.push({ name: "REEVE_PORT", value: "1" }),
    "has no setting REEVE_PORT",
  ],
  [
    "settings",
    "a setting that is wrong",
    (find) => (variable(find("Deployment", "toolhost"), "REEVE_POOL").value = "a b"),
    "REEVE_POOL",
  ],
  [
    "settings",
    "a setting that is missing",
    (find) =>
      (container(find("Deployment", "gateway")).env = container(
        find("Deployment", "gateway"),
      ).env.filter(({ name }: Broken) => name !== "REEVE_TOKENS")),
    "REEVE_TOKENS: is needed",
  ],
  [
    "settings",
    "settings that there are not",
    (find) => (container(find("Deployment", "gateway")).envFrom[0].configMapRef.name = "nothing"),
    "which there is not",
  ],
  [
    "settings",
    "a program that there is not",
    (find) => (container(find("Deployment", "gateway")).command[1] = "services/door/src/main.ts"),
    "a program that there is not",
  ],
  [
    "secrets",
    "a provider's key at a toolhost",
    (find) =>
      container(find("Deployment", "toolhost")).env.push(
        variable(find("Deployment", "runtime"), "OPENAI_API_KEY"),
      ),
    "Deployment toolhost may not see reeve-models",
  ],
  [
    "secrets",
    "a secret that nobody makes",
    (find) =>
      (variable(find("Deployment", "gateway"), "REEVE_TOKENS").valueFrom.secretKeyRef.key = "t"),
    "which nobody makes",
  ],
  [
    "secrets",
    "a whole secret",
    (find) =>
      container(find("Deployment", "runtime")).envFrom.push({
        secretRef: { name: "reeve-models" },
      }),
    "takes the whole of secret reeve-models",
  ],
  [
    "routes",
    "a service that is not led to",
    (find) => find("GRPCRoute", "grpc").spec.rules[0].matches.pop(),
    "does not lead to reeve.tool.v1.ToolService",
  ],
  [
    "routes",
    "a path that is for nobody outside",
    (find) =>
      find("HTTPRoute", "http").spec.rules[0].matches.push({
        path: { type: "PathPrefix", value: "/metrics" },
      }),
    "opens metrics",
  ],
  [
    "routes",
    "streams that end",
    (find) => delete find("HTTPRoute", "http").spec.rules[0].timeouts,
    "ends streams",
  ],
  [
    "routes",
    "a service that is not known for HTTP/2",
    (find) => delete find("Service", "gateway").spec.ports[0].appProtocol,
    "not known to speak HTTP/2",
  ],
  [
    "routes",
    "one hostname for two",
    (find) => (find("HTTPRoute", "http").spec.hostnames = ["grpc.reeve.example"]),
    "two routes",
  ],
];

function finderIn(objects: readonly KubernetesObject[]): Find {
  return (kind, name) => {
    const found = objects.find((one) => one.kind === kind && one.metadata.name === name);
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
    return found;
  };
}

describe.skipIf(renderer === undefined)(
  `a copy of the manifests${renderer === undefined ? `: ${noRenderer}` : ""}`,
  () => {
    const whole = renderer === undefined ? [] : render("test/k8s/overlays/all");

    test.each(breaks)("fails the check of %s for %s", (name, _, breakIt, said) => {
      const objects = structuredClone(whole) as KubernetesObject[];
      breakIt(finderIn(objects), objects);
      expect(policies[name](objects).join("\n")).toContain(said);
    });
  },
);

test("every check has a copy that fails it", () => {
  expect([...new Set(breaks.map(([name]) => name))]).toEqual(Object.keys(policies));
});
