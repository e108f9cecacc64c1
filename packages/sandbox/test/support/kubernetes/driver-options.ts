import type { KubernetesOptions } from "../../../src/kubernetes/driver.ts";
import type { RecordedCluster } from "./recorded-cluster.ts";

/** Returns the options of a driver for a recorded cluster. */
export function driverOptions(
  { kubeconfig }: Pick<RecordedCluster, "kubeconfig">,
  other: Partial<KubernetesOptions> = {},
): KubernetesOptions {
  return {
    kubeconfig,
    isInside: false,
    namespace: undefined,
    image: "registry.example/reeve-sandbox:0.1.0",
    runtimeClass: undefined,
    warmPool: undefined,
    ...other,
  };
}
