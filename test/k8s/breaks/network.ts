import type { Break } from "./break.ts";
import { remove } from "./break.ts";

/** Networks that are open, or closed to pods that need them. */
export const networkBreaks: readonly Break[] = [
  [
    "defaultDeny",
    "no default-deny",
    (_, objects) => remove(objects, "NetworkPolicy", "default-deny"),
    "namespace reeve has no default-deny",
  ],
  [
    "defaultDeny",
    "a default-deny that allows egress",
    (find) => (find("NetworkPolicy", "default-deny").spec.policyTypes = ["Ingress"]),
    "no default-deny",
  ],
  [
    "networkSelectors",
    "a policy without pods",
    (find) => (find("NetworkPolicy", "approvals").spec.podSelector.matchLabels = { app: "x" }),
    "selects no pod",
  ],
  [
    "networkSelectors",
    "a missing peer",
    (find) =>
      (find("NetworkPolicy", "approvals").spec.ingress[0].from[0].podSelector.matchLabels = {
        app: "x",
      }),
    "names a missing peer",
  ],
  [
    "networkSelectors",
    "a missing port",
    (find) => (find("NetworkPolicy", "approvals").spec.ingress[0].ports[0].port = 1),
    "allows port 1",
  ],
  [
    "networkSelectors",
    "an open ingress",
    (find) => delete find("NetworkPolicy", "approvals").spec.ingress[0].from,
    "allows all ingress",
  ],
  [
    "networkSelectors",
    "everywhere",
    (find) => delete find("NetworkPolicy", "nats").spec.egress[0].to,
    "allows all egress",
  ],
  [
    "internet",
    "a toolhost with internet access",
    (find) =>
      (find("NetworkPolicy", "runtime").spec.podSelector.matchLabels = {
        "app.kubernetes.io/name": "toolhost",
      }),
    "to other pods",
  ],
  [
    "internet",
    "cloud metadata",
    (find) => find("NetworkPolicy", "runtime").spec.egress[0].to[0].ipBlock.except.splice(2, 1),
    "opens 169.254.0.0/16",
  ],
  [
    "internet",
    "the network beside the cluster",
    (find) => (find("NetworkPolicy", "cluster-api").spec.egress[0].ports[0].port = 22),
    "the network beside the cluster",
  ],
  [
    "sandboxNetwork",
    "DNS for sandboxes",
    (find) => (find("NetworkPolicy", "names").spec.podSelector = {}),
    "NetworkPolicy names opens sandboxes",
  ],
];
