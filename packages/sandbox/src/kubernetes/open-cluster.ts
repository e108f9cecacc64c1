import { existsSync } from "node:fs";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { Cluster } from "./cluster.ts";

const account = "/var/run/secrets/kubernetes.io/serviceaccount/token";

export interface ClusterOptions {
  /** File with the address of a cluster and credentials. Undefined: those of the pod in which this process runs. */
  readonly kubeconfig: string | undefined;
  /** Whether this process runs in a pod, that is, whether `KUBERNETES_SERVICE_HOST` is set. */
  readonly isInside: boolean;
  /** Namespace of sandboxes. Undefined: that of the kubeconfig or of the pod. */
  readonly namespace: string | undefined;
}

/** Opens the cluster of a kubeconfig, or the one in which this process runs. Throws a Failure if there is none. */
export async function openCluster({
  kubeconfig,
  isInside,
  namespace,
}: ClusterOptions): Promise<Cluster> {
  if (kubeconfig === undefined && !isInside)
    throw noCluster("this toolhost does not run in a cluster");
  if (kubeconfig === undefined && !existsSync(account)) {
    throw noCluster(
      "the pod of this toolhost has no service account token; apply deploy/k8s/components/sandbox, which mounts it",
    );
  }
  // Imported late because it is large, and needed only with a cluster.
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  try {
    if (kubeconfig === undefined) config.loadFromCluster();
    else config.loadFromFile(kubeconfig);
  } catch (cause) {
    throw noCluster(`cannot read ${kubeconfig ?? account}; check that it is a kubeconfig`, cause);
  }
  if (config.getCurrentCluster() === null)
    throw noCluster(`${kubeconfig ?? ""} has no current cluster; set its current-context`);
  const own = config.getContextObject(config.getCurrentContext())?.namespace;
  return new Cluster(config, namespace ?? own ?? "default");
}

function noCluster(problem: string, cause?: unknown): Failure {
  return new Failure("precondition", ErrorReason.UNAVAILABLE, problem, { cause });
}
