import type { Container, KubernetesObject } from "../support/kubernetes-object.ts";
import { nameOf } from "../support/kubernetes-object.ts";
import { ofKind, workloadsOf } from "../support/manifests.ts";

/** The modes of pod security that every namespace must set. */
const modes = ["enforce", "audit", "warn"];

/** Pods satisfy the standard "restricted" and write only to volumes of bounded size, and namespaces enforce the standard. */
export function podSecurity(objects: readonly KubernetesObject[]): readonly string[] {
  const namespaces = ofKind(objects, "Namespace").flatMap(({ metadata }) =>
    modes
      .filter((mode) => metadata.labels?.[`pod-security.kubernetes.io/${mode}`] !== "restricted")
      .map((mode) => `namespace ${metadata.name} does not ${mode} restricted pods`),
  );
  const pods = workloadsOf(objects).flatMap(({ name, pod, containers }) => {
    const { securityContext = {}, volumes = [] } = pod;
    return [
      ...(securityContext.runAsNonRoot === true ? [] : [`${name} may run as root`]),
      ...(Number(securityContext.runAsUser) > 0 ? [] : [`${name} has no user id of its own`]),
      ...(securityContext.seccompProfile?.type === "RuntimeDefault"
        ? []
        : [`${name} has no seccomp profile`]),
      ...(pod.hostNetwork === true || pod.hostPID === true || pod.hostIPC === true
        ? [`${name} shares namespaces of its host`]
        : []),
      ...volumes
        .filter(({ hostPath }) => hostPath !== undefined)
        .map((volume) => `${name} mounts ${volume.name} of its host`),
      ...volumes
        .filter(({ emptyDir }) => emptyDir !== undefined && emptyDir.sizeLimit === undefined)
        .map((volume) => `${name} has no limit for ${volume.name}`),
      ...containers.flatMap((container) => containerProblems(name, container)),
    ];
  });
  return [...namespaces, ...pods];
}

function containerProblems(name: string, { securityContext = {} }: Container): readonly string[] {
  const { allowPrivilegeEscalation, readOnlyRootFilesystem, privileged, capabilities } =
    securityContext;
  return [
    ...(allowPrivilegeEscalation === false ? [] : [`${name} may gain privileges`]),
    ...(privileged === true ? [`${name} is privileged`] : []),
    ...(readOnlyRootFilesystem === true ? [] : [`${name} may write on its root`]),
    ...(capabilities?.drop?.includes("ALL") === true && capabilities.add === undefined
      ? []
      : [`${name} has capabilities`]),
  ];
}

/** Pods that do not use the cluster's API receive no token and no service variables. */
export function identity(objects: readonly KubernetesObject[]): readonly string[] {
  const accounts = ofKind(objects, "ServiceAccount");
  const pods = workloadsOf(objects).flatMap(({ name, pod }) => [
    ...(pod.enableServiceLinks === false
      ? []
      : [`${name} has environment variables of every service`]),
    ...(pod.automountServiceAccountToken === false ? [] : [`${name} has a mounted token`]),
    ...(accounts.some(({ metadata }) => metadata.name === pod.serviceAccountName)
      ? []
      : [`${name} has no service account of its own`]),
  ]);
  const tokens = accounts
    .filter((account) => account.automountServiceAccountToken !== false)
    .map((account) => `${nameOf(account)} mounts tokens`);
  return [...pods, ...tokens];
}
