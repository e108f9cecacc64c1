import type { V1DeploymentSpec, V1ServiceSpec } from "@kubernetes/client-node";
import type { KubernetesObject, Selector } from "../support/kubernetes-object.ts";
import { nameOf } from "../support/kubernetes-object.ts";
import { hasPort, ofKind, selects, workloadsOf } from "../support/manifests.ts";

/** Every selector matches pods with the required ports, and no two owners select the same pods. */
export function selectors(objects: readonly KubernetesObject[]): readonly string[] {
  return [...owners(objects), ...services(objects), ...monitors(objects)];
}

function owners(objects: readonly KubernetesObject[]): readonly string[] {
  const workloads = workloadsOf(objects);
  return workloads
    .filter(({ isService }) => isService)
    .flatMap(({ object, name }) => {
      const { selector } = object.spec as V1DeploymentSpec;
      const found = workloads.filter(({ labels }) => selects(selector, labels));
      const isOwn = found.length === 1 && found[0]?.name === name;
      return isOwn
        ? []
        : [`${name} selects ${found.map((other) => other.name).join(", ") || "nothing"}`];
    });
}

function services(objects: readonly KubernetesObject[]): readonly string[] {
  const workloads = workloadsOf(objects);
  return ofKind(objects, "Service").flatMap((service) => {
    const { selector = {}, ports = [] } = service.spec as V1ServiceSpec;
    const found = workloads.filter(({ labels }) => selects({ matchLabels: selector }, labels));
    if (found.length === 0) return [`${nameOf(service)} selects nothing`];
    return ports.flatMap(({ port, targetPort }) =>
      found
        .filter((workload) => !hasPort(workload, targetPort ?? port))
        .map(({ name }) => `${nameOf(service)} targets a port that ${name} does not have`),
    );
  });
}

interface MonitorSpec {
  readonly selector: Selector;
  readonly podMetricsEndpoints: readonly { readonly port: string }[];
}

/** If monitors exist, they scrape every service. */
function monitors(objects: readonly KubernetesObject[]): readonly string[] {
  const workloads = workloadsOf(objects).filter(({ containers }) =>
    containers.some(({ name }) => name === "reeve"),
  );
  return ofKind(objects, "PodMonitor").flatMap((monitor) => {
    const { selector, podMetricsEndpoints } = monitor.spec as MonitorSpec;
    return workloads
      .filter(({ isService }) => isService)
      .filter(
        (workload) =>
          !selects(selector, workload.labels) ||
          !podMetricsEndpoints.some(({ port }) => hasPort(workload, port)),
      )
      .map(({ name }) => `${nameOf(monitor)} does not scrape ${name}`);
  });
}
