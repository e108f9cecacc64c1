import type { Break } from "./break.ts";
import { remove } from "./break.ts";

/** Networks that are open, or closed to whoever needs them. */
export const networkBreaks: readonly Break[] = [
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
    "internet",
    "everything beside the cluster",
    (find) => (find("NetworkPolicy", "cluster-api").spec.egress[0].ports[0].port = 22),
    "beside the cluster",
  ],
  [
    "sandboxNetwork",
    "names for sandboxes",
    (find) => (find("NetworkPolicy", "names").spec.podSelector = {}),
    "NetworkPolicy names opens sandboxes",
  ],
];
