import type { Environment } from "@reeve/platform/config";
import type { KubernetesObject } from "./kubernetes-object.ts";
import type { Workload } from "./manifests.ts";
import { ofKind } from "./manifests.ts";

/** Values for secrets with a required format, by variable; any other secret gets arbitrary text. */
const placeholders: Environment = { REEVE_TOKENS: "a-token-of-somebody=acme/ada" };

/** Returns the environment of a workload's first container, with a value for each required secret. */
export function environmentOf(
  objects: readonly KubernetesObject[],
  { containers: [container] }: Workload,
): Environment {
  const configs = ofKind(objects, "ConfigMap");
  const from = (container?.envFrom ?? []).flatMap(({ configMapRef }) =>
    Object.entries(
      configs.find(({ metadata }) => metadata.name === configMapRef?.name)?.data ?? {},
    ),
  );
  const own = (container?.env ?? [])
    .filter(({ valueFrom }) => valueFrom?.secretKeyRef?.optional !== true)
    .map(({ name, value }) => [name, value ?? placeholders[name] ?? "a-secret-of-some-length"]);
  return Object.fromEntries([...from, ...own]);
}
