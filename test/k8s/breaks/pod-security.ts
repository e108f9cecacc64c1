import type { Break } from "./break.ts";
import { container, pod, remove } from "./break.ts";

/** Pods with more rights on their node or in the cluster than they need. */
export const podSecurityBreaks: readonly Break[] = [
  [
    "podSecurity",
    "root",
    (find) => delete pod(find("Deployment", "gateway")).securityContext.runAsNonRoot,
    "may run as root",
  ],
  [
    "podSecurity",
    "a writable root",
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
    "a host folder",
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
    "a namespace with a weaker standard",
    (find) =>
      (find("Namespace", "reeve").metadata.labels["pod-security.kubernetes.io/enforce"] =
        "baseline"),
    "does not enforce",
  ],
  [
    "identity",
    "service links",
    (find) => delete pod(find("Deployment", "gateway")).enableServiceLinks,
    "environment variables of every service",
  ],
  [
    "identity",
    "a mounted token",
    (find) => (pod(find("Deployment", "gateway")).automountServiceAccountToken = true),
    "has a mounted token",
  ],
  [
    "identity",
    "no service account of its own",
    (_, objects) => remove(objects, "ServiceAccount", "runtime"),
    "no service account",
  ],
];
