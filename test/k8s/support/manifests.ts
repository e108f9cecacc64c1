import type {
  Container,
  KubernetesObject,
  Labels,
  PodSpec,
  Selector,
} from "./kubernetes-object.ts";
import { nameOf } from "./kubernetes-object.ts";

/** An object that creates pods. */
export interface Workload {
  readonly object: KubernetesObject;
  /** `Kind name`, for messages. */
  readonly name: string;
  readonly labels: Labels;
  readonly pod: PodSpec;
  readonly containers: readonly Container[];
  /** Whether its pods run until they are replaced. */
  readonly isService: boolean;
}

const kindsWithPods = ["Deployment", "StatefulSet", "DaemonSet", "Job"];

interface WithTemplate {
  readonly template: { readonly metadata?: { readonly labels?: Labels }; readonly spec: PodSpec };
}

export function workloadsOf(objects: readonly KubernetesObject[]): readonly Workload[] {
  return objects
    .filter(({ kind }) => kindsWithPods.includes(kind))
    .map((object) => {
      const { metadata, spec } = (object.spec as WithTemplate).template;
      return {
        object,
        name: nameOf(object),
        labels: metadata?.labels ?? {},
        pod: spec,
        containers: [...(spec.initContainers ?? []), ...spec.containers],
        isService: object.kind !== "Job",
      };
    });
}

export function ofKind(
  objects: readonly KubernetesObject[],
  ...kinds: readonly string[]
): readonly KubernetesObject[] {
  return objects.filter(({ kind }) => kinds.includes(kind));
}

/** Returns whether a selector matches pods with these labels. A selector without a condition matches all. */
export function selects(selector: Selector, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const isEqual = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return (
    isEqual &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === "In") return value !== undefined && values.includes(value);
      if (operator === "NotIn") return value === undefined || !values.includes(value);
      return (operator === "Exists") === (value !== undefined);
    })
  );
}

/** Returns whether a container of a pod has the port, by name or number. */
export function hasPort({ containers }: Workload, port: string | number | undefined): boolean {
  return containers.some(({ ports = [] }) =>
    ports.some(({ name, containerPort }) => name === port || containerPort === port),
  );
}

/** Returns the value of an environment variable in the manifest itself. */
export function valueOf({ containers }: Workload, variable: string): string | undefined {
  return containers.flatMap(({ env = [] }) => env).find(({ name }) => name === variable)?.value;
}
