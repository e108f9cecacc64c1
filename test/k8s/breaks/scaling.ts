import type { Break } from "./break.ts";
import { remove, variable } from "./break.ts";

/** Numbers of pods that nobody sets, or two do, and queues that scale nothing. */
export const scalingBreaks: readonly Break[] = [
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
];
