import type { policies } from "../policies/all-policies.ts";
import type { KubernetesObject } from "../support/kubernetes-object.ts";

/** An object that is broken on purpose: nothing is known of its shape. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Broken = any;

/** Finds the object of a kind and a name. */
export type Find = (kind: string, name: string) => Broken;

/** A check, what is broken, how, and what the check says of it. */
export type Break = readonly [
  check: keyof typeof policies,
  what: string,
  breakIt: (find: Find, objects: KubernetesObject[]) => void,
  said: string,
];

/** What the pods of a workload are made from. */
export function pod(workload: Broken): Broken {
  return workload.spec.template.spec;
}

/** The first container of a workload. */
export function container(workload: Broken): Broken {
  return pod(workload).containers[0];
}

/** A volume of the pods of a workload. */
export function volume(workload: Broken, name: string): Broken {
  return pod(workload).volumes.find((one: Broken) => one.name === name);
}

/** A variable in the environment of a workload. */
export function variable(workload: Broken, name: string): Broken {
  return container(workload).env.find((one: Broken) => one.name === name);
}

export function remove(objects: KubernetesObject[], kind: string, name: string): void {
  const index = objects.findIndex((one) => one.kind === kind && one.metadata.name === name);
  objects.splice(index, 1);
}
