import type {
  Container,
  KubernetesObject,
  Labels,
  PodSpec,
  Selector,
} from "./kubernetes-object.ts";
import { nameOf } from "./kubernetes-object.ts";

/** Something that makes pods. */
export interface Workload {
  readonly object: KubernetesObject;
  /** `Kind name`, for messages. */
  readonly name: string;
  readonly labels: Labels;
  readonly pod: PodSpec;
  readonly containers: readonly Container[];
  /** Whether its pods live until they are replaced. */
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

/** Whether pods with these labels are selected. A selector without a condition selects all. */
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

/** Whether a container of a pod has the port, by its name or its number. */
export function hasPort({ containers }: Workload, port: string | number | undefined): boolean {
  return containers.some(({ ports = [] }) =>
    ports.some(({ name, containerPort }) => name === port || containerPort === port),
  );
}

/** What an environment variable is set to in the manifest itself. */
export function valueOf({ containers }: Workload, variable: string): string | undefined {
  return containers.flatMap(({ env = [] }) => env).find(({ name }) => name === variable)?.value;
}
