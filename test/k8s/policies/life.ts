import type { V1DeploymentSpec, V1PodDisruptionBudgetSpec, V1Probe } from "@kubernetes/client-node";
import type { Container, KubernetesObject } from "../support/kubernetes-object.ts";
import { nameOf } from "../support/kubernetes-object.ts";
import type { Workload } from "../support/manifests.ts";
import { hasPort, ofKind, selects, workloadsOf } from "../support/manifests.ts";
import { programOf } from "../support/services.ts";
import { environmentOf } from "../support/environment.ts";

/** What a service may take beyond its drain to end in order, in seconds. */
const marginSeconds = 30;
/** What a toolhost may take for its workspaces then: to let clients' operations end, and to save all. */
const savingSeconds = 60;

/** Services are asked whether they started, live and are ready, at ports that they have and by the names that mean it. */
export function probes(objects: readonly KubernetesObject[]): readonly string[] {
  return workloadsOf(objects)
    .filter(({ isService }) => isService)
    .flatMap((workload) =>
      workload.containers.flatMap((container) => probeProblems(workload, container)),
    );
}

function probeProblems(workload: Workload, container: Container): readonly string[] {
  const { name } = workload;
  const probes = [
    ["startup", container.startupProbe, "liveness"],
    ["liveness", container.livenessProbe, "liveness"],
    ["readiness", container.readinessProbe, "readiness"],
  ] as const;
  return probes.flatMap(([what, probe, service]) => {
    if (probe === undefined) return [`${name} has no ${what} probe`];
    const problems: string[] = [];
    if (!hasPort(workload, portOf(probe)))
      problems.push(`${name} has no port for its ${what} probe`);
    if (probe.grpc !== undefined && probe.grpc.service !== service) {
      problems.push(`${name} asks for its ${what} under another name than ${service}`);
    }
    return problems;
  });
}

function portOf({ grpc, httpGet, tcpSocket }: V1Probe): string | number | undefined {
  return grpc?.port ?? httpGet?.port ?? tcpSocket?.port;
}

/** A pod has as long to end as its service takes, and is forgotten by its clients before. */
export function grace(objects: readonly KubernetesObject[]): readonly string[] {
  return workloadsOf(objects)
    .filter(({ isService }) => isService)
    .flatMap((workload) => {
      const { name, pod, containers } = workload;
      const rest = Math.max(
        ...containers.map(({ lifecycle }) => lifecycle?.preStop?.sleep?.seconds ?? 0),
      );
      const read = programOf(workload)?.read(environmentOf(objects, workload)) ?? {};
      const drainMs = Number(read["REEVE_DRAIN_MS"] ?? 0);
      const saving = "REEVE_WORKSPACE_SAVE_MS" in read ? savingSeconds : 0;
      const needed = rest + drainMs / 1000 + saving + marginSeconds;
      const given = pod.terminationGracePeriodSeconds ?? 30;
      return [
        ...(rest > 0 ? [] : [`${name} ends while its clients still know it`]),
        ...(given >= needed ? [] : [`${name} has ${given} s to end and may need ${needed}`]),
      ];
    });
}

/** A new version comes up before the old one goes, on other machines and in other zones where there are some. */
export function rollout(objects: readonly KubernetesObject[]): readonly string[] {
  return workloadsOf(objects)
    .filter(({ object }) => object.kind === "Deployment")
    .flatMap(({ object, name, pod, labels }) => {
      const { strategy } = object.spec as V1DeploymentSpec;
      const { maxSurge, maxUnavailable } = strategy?.rollingUpdate ?? {};
      const spread = (key: string) =>
        pod.topologySpreadConstraints?.some(
          ({ topologyKey, whenUnsatisfiable, labelSelector }) =>
            topologyKey === key &&
            whenUnsatisfiable === "ScheduleAnyway" &&
            labelSelector !== undefined &&
            selects(labelSelector, labels),
        );
      return [
        ...(maxSurge === 1 && maxUnavailable === 0 ? [] : [`${name} is less while it is replaced`]),
        ...["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
          .filter((key) => spread(key) !== true)
          .map((key) => `${name} is not spread over ${key}`),
      ];
    });
}

/** An eviction takes one pod of a service at a time, and none that is broken stands in its way. */
export function disruption(objects: readonly KubernetesObject[]): readonly string[] {
  const budgets = ofKind(objects, "PodDisruptionBudget");
  const services = workloadsOf(objects).filter(({ isService }) => isService);
  const covering = (labels: Workload["labels"]) =>
    budgets.filter((budget) => {
      const { selector } = budget.spec as V1PodDisruptionBudgetSpec;
      return selector !== undefined && selects(selector, labels);
    });
  return [
    ...services
      .filter(({ labels }) => covering(labels).length !== 1)
      .map(({ name, labels }) => `${name} has ${covering(labels).length} disruption budgets`),
    ...budgets.flatMap((budget) => {
      const { maxUnavailable, unhealthyPodEvictionPolicy } =
        budget.spec as V1PodDisruptionBudgetSpec;
      return [
        ...(maxUnavailable === 1 ? [] : [`${nameOf(budget)} does not let one pod go`]),
        ...(unhealthyPodEvictionPolicy === "AlwaysAllow"
          ? []
          : [`${nameOf(budget)} keeps pods that are broken`]),
      ];
    }),
  ];
}
