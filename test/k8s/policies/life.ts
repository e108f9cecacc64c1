import type { V1DeploymentSpec, V1PodDisruptionBudgetSpec, V1Probe } from "@kubernetes/client-node";
import type { Container, KubernetesObject } from "../support/kubernetes-object.ts";
import { nameOf } from "../support/kubernetes-object.ts";
import type { Workload } from "../support/manifests.ts";
import { hasPort, ofKind, selects, valueOf, workloadsOf } from "../support/manifests.ts";
import { programOf } from "../support/services.ts";
import { environmentOf } from "../support/environment.ts";

/** How long a service may take for a graceful end after its drain, in seconds. */
const marginSeconds = 30;
/** How long a toolhost may take then to end clients' operations and save all workspaces, in seconds. */
const savingSeconds = 60;

/** Services have startup, liveness, and readiness probes, with existing ports, the correct names, and TLS if the port has it. */
export function probes(objects: readonly KubernetesObject[]): readonly string[] {
  return workloadsOf(objects)
    .filter(({ isService }) => isService)
    .flatMap((workload) =>
      workload.containers.flatMap((container) => probeProblems(workload, container)),
    );
}

function probeProblems(workload: Workload, container: Container): readonly string[] {
  const { name } = workload;
  const probes = [
    ["startup", container.startupProbe, "liveness"],
    ["liveness", container.livenessProbe, "liveness"],
    ["readiness", container.readinessProbe, "readiness"],
  ] as const;
  return probes.flatMap(([what, probe, service]) => {
    if (probe === undefined) return [`${name} has no ${what} probe`];
    const problems: string[] = [];
    if (!hasPort(workload, portOf(probe)))
      problems.push(`${name} has no port for its ${what} probe`);
    const isSecure = valueOf(workload, "REEVE_TLS_CERT_FILE") !== undefined;
    if (isSecure !== (probe.httpGet?.scheme === "HTTPS")) {
      problems.push(`${name} probes its ${what} ${isSecure ? "without" : "with"} TLS`);
    }
    const path = service === "liveness" ? "/livez" : "/readyz";
    if (container.name === "reeve" && probe.httpGet && probe.httpGet.path !== path) {
      problems.push(`${name} probes its ${what} at another path than ${path}`);
    }
    if (probe.grpc !== undefined && probe.grpc.service !== service) {
      problems.push(`${name} probes its ${what} under another name than ${service}`);
    }
    return problems;
  });
}

function portOf({ grpc, httpGet, tcpSocket }: V1Probe): string | number | undefined {
  return grpc?.port ?? httpGet?.port ?? tcpSocket?.port;
}

/** A pod's grace period covers its drain, and clients stop using the pod before it ends. */
export function grace(objects: readonly KubernetesObject[]): readonly string[] {
  return workloadsOf(objects)
    .filter(({ isService }) => isService)
    .flatMap((workload) => {
      const { name, pod, containers } = workload;
      const rest = Math.max(
        ...containers.map(({ lifecycle }) => lifecycle?.preStop?.sleep?.seconds ?? 0),
      );
      const read = programOf(workload)?.read(environmentOf(objects, workload)) ?? {};
      const drainMs = Number(read["REEVE_DRAIN_MS"] ?? 0);
      const saving = "REEVE_WORKSPACE_SAVE_MS" in read ? savingSeconds : 0;
      const needed = rest + drainMs / 1000 + saving + marginSeconds;
      const given = pod.terminationGracePeriodSeconds ?? 30;
      return [
        ...(rest > 0 ? [] : [`${name} ends while its clients still know it`]),
        ...(given >= needed ? [] : [`${name} has ${given} s to end and may need ${needed}`]),
      ];
    });
}

/** A new version starts before the old one ends, on different nodes and zones if possible. */
export function rollout(objects: readonly KubernetesObject[]): readonly string[] {
  return workloadsOf(objects)
    .filter(({ object }) => object.kind === "Deployment")
    .flatMap(({ object, name, pod, labels }) => {
      const { strategy } = object.spec as V1DeploymentSpec;
      const { maxSurge, maxUnavailable } = strategy?.rollingUpdate ?? {};
      const spread = (key: string) =>
        pod.topologySpreadConstraints?.some(
          ({ topologyKey, whenUnsatisfiable, labelSelector }) =>
            topologyKey === key &&
            whenUnsatisfiable === "ScheduleAnyway" &&
            labelSelector !== undefined &&
            selects(labelSelector, labels),
        );
      return [
        ...(maxSurge === 1 && maxUnavailable === 0
          ? []
          : [`${name} has fewer pods during a rollout`]),
        ...["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
          .filter((key) => spread(key) !== true)
          .map((key) => `${name} is not spread over ${key}`),
      ];
    });
}

/** An eviction removes one pod of a service at a time, and unhealthy pods do not block it. */
export function disruption(objects: readonly KubernetesObject[]): readonly string[] {
  const budgets = ofKind(objects, "PodDisruptionBudget");
  const services = workloadsOf(objects).filter(({ isService }) => isService);
  const covering = (labels: Workload["labels"]) =>
    budgets.filter((budget) => {
      const { selector } = budget.spec as V1PodDisruptionBudgetSpec;
      return selector !== undefined && selects(selector, labels);
    });
  return [
    ...services
      .filter(({ labels }) => covering(labels).length !== 1)
      .map(({ name, labels }) => `${name} has ${covering(labels).length} disruption budgets`),
    ...budgets.flatMap((budget) => {
      const { maxUnavailable, unhealthyPodEvictionPolicy } =
        budget.spec as V1PodDisruptionBudgetSpec;
      return [
        ...(maxUnavailable === 1
          ? []
          : [`${nameOf(budget)} does not permit the eviction of one pod`]),
        ...(unhealthyPodEvictionPolicy === "AlwaysAllow"
          ? []
          : [`${nameOf(budget)} protects unhealthy pods`]),
      ];
    }),
  ];
}
