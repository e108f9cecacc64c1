import type { KubernetesObject } from "../support/kubernetes-object.ts";
import { workloadsOf } from "../support/manifests.ts";

/** Every image has a fixed version. */
export function images(objects: readonly KubernetesObject[]): readonly string[] {
  return workloadsOf(objects).flatMap(({ name, containers }) =>
    containers.flatMap(({ image = "" }) => {
      const [, version = ""] = /(?::([^:/]+)|@(sha256:[0-9a-f]{64}))$/.exec(image) ?? [];
      return /^\d|^sha256:/.test(version)
        ? []
        : [`${name} has an image with no fixed version: ${image}`];
    }),
  );
}

/** Every container has requests, and a memory limit equal to its request, since memory cannot be reclaimed. */
export function resources(objects: readonly KubernetesObject[]): readonly string[] {
  return workloadsOf(objects).flatMap(({ name, containers, pod }) => [
    ...containers.flatMap(({ resources: { requests = {}, limits = {} } = {} }) => [
      ...["cpu", "memory", "ephemeral-storage"]
        .filter((resource) => requests[resource] === undefined)
        .map((resource) => `${name} requests no ${resource}`),
      ...["memory", "ephemeral-storage"]
        .filter((resource) => limits[resource] === undefined)
        .map((resource) => `${name} has no limit of ${resource}`),
      ...(requests["memory"] === limits["memory"]
        ? []
        : [`${name} may use memory without a request`]),
    ]),
    ...scratchProblems(name, pod, containers),
  ]);
}

type Pod = ReturnType<typeof workloadsOf>[number];

function scratchProblems(
  name: string,
  { volumes = [] }: Pod["pod"],
  containers: Pod["containers"],
): readonly string[] {
  const scratch = volumes.map(({ emptyDir }) => bytesOf(emptyDir?.sizeLimit ?? "0"));
  const limit = containers.map(({ resources }) =>
    bytesOf(resources?.limits?.["ephemeral-storage"] ?? "0"),
  );
  return sum(scratch) > sum(limit) ? [`${name} would be evicted before its volumes are full`] : [];
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}

/** Returns the bytes of a quantity of memory or storage, as `512Mi`. */
export function bytesOf(quantity: string): number {
  const [, number = "0", unit = ""] = /^(\d+)(Ki|Mi|Gi)?$/.exec(quantity) ?? [];
  return Number(number) * 1024 ** ["", "Ki", "Mi", "Gi"].indexOf(unit);
}
