import type { Break } from "./break.ts";

/** Selectors that match nothing, or the wrong pods. */
export const selectorBreaks: readonly Break[] = [
  [
    "selectors",
    "a selector without a match",
    (find) => (find("Deployment", "gateway").spec.selector.matchLabels = { app: "x" }),
    "selects nothing",
  ],
  [
    "selectors",
    "a selector that also matches other pods",
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
    "a service with a missing port",
    (find) => (find("Service", "gateway").spec.ports[0].targetPort = "grpc"),
    "targets a port",
  ],
  [
    "selectors",
    "a monitor that misses a workload",
    (find) => find("PodMonitor", "reeve").spec.podMetricsEndpoints.pop(),
    "does not scrape Deployment",
  ],
];
