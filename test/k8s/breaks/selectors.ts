import type { Break } from "./break.ts";

/** Selectors that find nothing, or others. */
export const selectorBreaks: readonly Break[] = [
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
];
