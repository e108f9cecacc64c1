import type { KubernetesObject } from "../support/kubernetes-object.ts";
import { environmentOf } from "../support/environment.ts";
import { ofKind, workloadsOf } from "../support/manifests.ts";
import { programNameOf } from "../support/services.ts";

const server = "REEVE_NATS_URL";

/**
 * Kubernetes refuses to change the pod of a job, so the name of a job is that of the ConfigMap with all of its settings and
 * its image, which ends with a hash. A job provisions the server that the services use.
 */
export function jobs(objects: readonly KubernetesObject[]): readonly string[] {
  const workloads = workloadsOf(objects);
  const services = workloads.filter(
    (workload) => workload.isService && programNameOf(workload) !== undefined,
  );
  const urls = services.map((workload) => environmentOf(objects, workload)[server]);
  return workloads
    .filter(({ isService }) => !isService)
    .flatMap((job) => {
      const { name, object, containers } = job;
      const [own, ...others] = containers
        .flatMap(({ envFrom = [] }) => envFrom)
        .map(({ configMapRef }) => configMapRef?.name);
      const config = ofKind(objects, "ConfigMap").find(({ metadata }) => metadata.name === own);
      const isNamed = object.metadata.name === own && /-[a-z0-9]{10}$/.test(own);
      return [
        ...(isNamed ? [] : [`${name} has the same name with other settings`]),
        ...others.map((other) => `${name} also reads ${other}, which its name does not follow`),
        ...containers
          .filter(({ image }) => image !== config?.data?.["image"])
          .map(() => `${name} has the same name with another image`),
        ...(urls.every((url) => url === config?.data?.[server])
          ? []
          : [`${name} provisions another server than the services use`]),
      ];
    });
}
