import type { policies } from "../policies/all-policies.ts";
import type { KubernetesObject } from "../support/kubernetes-object.ts";

/** An object that a test breaks on purpose, of unknown shape. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Broken = any;

/** Returns the object of a kind and a name. */
export type Find = (kind: string, name: string) => Broken;

/** A check, a description of the violation, the change that causes it, and a part of the check's message. */
export type Break = readonly [
  check: keyof typeof policies,
  what: string,
  breakIt: (find: Find, objects: KubernetesObject[]) => void,
  said: string,
];

/** Returns the pod template of a workload. */
export function pod(workload: Broken): Broken {
  return workload.spec.template.spec;
}

/** Returns the first container of a workload. */
export function container(workload: Broken): Broken {
  return pod(workload).containers[0];
}

/** Returns a volume of a workload's pods. */
export function volume(workload: Broken, name: string): Broken {
  return pod(workload).volumes.find((one: Broken) => one.name === name);
}

/** Returns an environment variable of a workload. */
export function variable(workload: Broken, name: string): Broken {
  return container(workload).env.find((one: Broken) => one.name === name);
}

export function remove(objects: KubernetesObject[], kind: string, name: string): void {
  const index = objects.findIndex((one) => one.kind === kind && one.metadata.name === name);
  objects.splice(index, 1);
}
