import type { Break } from "./break.ts";
import { container, pod, remove, variable } from "./break.ts";

/** Pods that start, end, or are replaced while clients need them. */
export const lifeBreaks: readonly Break[] = [
  [
    "probes",
    "a probe of a missing port",
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
    "probes",
    "probes without the TLS of the port",
    (find) =>
      container(find("Deployment", "gateway")).env.push({
        name: "REEVE_TLS_CERT_FILE",
        value: "/tls/tls.crt",
      }),
    "Deployment gateway probes its readiness without TLS",
  ],
  [
    "probes",
    "a readiness that is always given",
    (find) =>
      (container(find("Deployment", "gateway")).readinessProbe = {
        httpGet: { path: "/livez", port: "api" },
      }),
    "another path than /readyz",
  ],
  [
    "grace",
    "a grace period shorter than the drain",
    (find) => (pod(find("Deployment", "toolhost")).terminationGracePeriodSeconds = 300),
    "has 300 s to end and may need 395",
  ],
  [
    "grace",
    "a longer drain",
    (find) => (variable(find("Deployment", "runtime"), "REEVE_DRAIN_MS").value = "600000"),
    "may need 635",
  ],
  [
    "grace",
    "no delay before the end",
    (find) => delete container(find("Deployment", "gateway")).lifecycle,
    "clients still know it",
  ],
  [
    "rollout",
    "fewer pods during a rollout",
    (find) => (find("Deployment", "gateway").spec.strategy.rollingUpdate.maxUnavailable = 1),
    "has fewer pods",
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
    "protects unhealthy pods",
  ],
];
