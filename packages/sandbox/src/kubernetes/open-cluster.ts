import { existsSync } from "node:fs";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { Cluster } from "./cluster.ts";

const account = "/var/run/secrets/kubernetes.io/serviceaccount/token";

export interface ClusterOptions {
  /** A file with the address of a cluster and credentials. Absent: those of the pod in which this runs. */
  readonly kubeconfig: string | undefined;
  /** Whether this runs in a pod: what `KUBERNETES_SERVICE_HOST` says. */
  readonly isInside: boolean;
  /** Where sandboxes are made. Absent: that of the configuration or of the pod. */
  readonly namespace: string | undefined;
}

/** The cluster in which this runs, or that of a configuration. Throws a Failure when there is none. */
export async function openCluster({
  kubeconfig,
  isInside,
  namespace,
}: ClusterOptions): Promise<Cluster> {
  if (kubeconfig === undefined && !isInside) throw none("this toolhost runs in no cluster");
  if (kubeconfig === undefined && !existsSync(account)) {
    throw none(
      "the pod of this toolhost has no token of a service account (deploy/k8s/components/sandbox mounts it)",
    );
  }
  // A large library that nobody needs outside of a cluster.
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  try {
    if (kubeconfig === undefined) config.loadFromCluster();
    else config.loadFromFile(kubeconfig);
  } catch (cause) {
    throw none(`${kubeconfig ?? account} cannot be read`, cause);
  }
  if (config.getCurrentCluster() === null) throw none(`${kubeconfig ?? ""} names no cluster`);
  const own = config.getContextObject(config.getCurrentContext())?.namespace;
  return new Cluster(config, namespace ?? own ?? "default");
}

function none(problem: string, cause?: unknown): Failure {
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
}
