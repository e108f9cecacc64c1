import type { Break } from "./break.ts";
import { remove } from "./break.ts";

/** Replica counts without an owner or with two, and queues that scale no pods. */
export const scalingBreaks: readonly Break[] = [
  [
    "replicas",
    "a replica count beside an autoscaler",
    (find) => (find("Deployment", "toolhost").spec.replicas = 2),
    "competes with",
  ],
  [
    "replicas",
    "two autoscalers",
    (find) => (find("HorizontalPodAutoscaler", "gateway").spec.scaleTargetRef.name = "toolhost"),
    "is scaled by",
  ],
  [
    "replicas",
    "an autoscaler of a missing workload",
    (find) => (find("ScaledObject", "toolhost").spec.scaleTargetRef.name = "hosts"),
    "which does not exist",
  ],
  [
    "replicas",
    "no replica count",
    (find) => delete find("Deployment", "approvals").spec.replicas,
    "no replica count",
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
    "a pool without a scaler",
    (_, objects) => remove(objects, "ScaledObject", "toolhost"),
    "not scaled by its queue",
  ],
  [
    "queues",
    "a pool that is not provisioned",
    (find) => (find("ConfigMap", "provision").data.REEVE_POOLS = "large"),
    "does not provision pool default",
  ],
  [
    "queues",
    "a threshold above a pod's concurrency",
    (find) => (find("ScaledObject", "toolhost").spec.triggers[0].metadata.lagThreshold = "1000"),
    "only after calls wait",
  ],
  [
    "queues",
    "a target above a pod's concurrency",
    (find) => (find("ScaledObject", "runtime").spec.advanced.scalingModifiers.target = "1000"),
    "only after calls wait",
  ],
  [
    "queues",
    "a lane that no trigger reads",
    (find) => find("ScaledObject", "runtime").spec.triggers.shift(),
    "does not read consumer lane-0",
  ],
  [
    "queues",
    "lanes that are not added up",
    (find) => delete find("ScaledObject", "runtime").spec.advanced.scalingModifiers,
    "by the sum of its lanes",
  ],
  [
    "queues",
    "runtimes on Temporal that are scaled by lanes",
    (find) =>
      find("Deployment", "runtime").spec.template.spec.containers[0].env.push({
        name: "REEVE_EXECUTOR",
        value: "temporal",
      }),
    "by the runs that wait in Temporal",
  ],
  [
    "queues",
    "no fallback",
    (find) => delete find("ScaledObject", "runtime").spec.fallback,
    "while NATS is unavailable",
  ],
  [
    "queues",
    "a service that balances over several servers",
    (find) =>
      (find("ScaledObject", "runtime").spec.triggers[0].metadata.natsServerMonitoringEndpoint =
        "nats.nats.svc:8222"),
    "asks one server",
  ],
];
