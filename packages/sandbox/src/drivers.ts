import { BubblewrapDriver } from "./bubblewrap/driver.ts";
import type { DockerOptions } from "./docker/driver.ts";
import { DockerDriver } from "./docker/driver.ts";
import { FilesOnlyDriver } from "./files-only/driver.ts";
import type { Identity } from "./host/identity.ts";
import type { KubernetesOptions } from "./kubernetes/driver.ts";
import { KubernetesDriver } from "./kubernetes/driver.ts";
import type { SandboxDriver } from "./port.ts";
import { UnsafeLocalDriver } from "./unsafe-local/driver.ts";

/** Settings from which all drivers are created. */
export interface DriverSettings {
  /** User that runs sandboxes on this host. */
  readonly identity: Identity;
  /** Container image of sandboxes. */
  readonly image: string;
  /** The only container runtime or RuntimeClass to use. Undefined: the driver chooses. */
  readonly runtime: string | undefined;
  readonly docker: Pick<DockerOptions, "address" | "probeDir">;
  readonly kubernetes: Pick<
    KubernetesOptions,
    "kubeconfig" | "isInside" | "namespace" | "warmPool"
  >;
}

/**
 * All drivers by name, in order of preference. To add a driver, create a folder with its `driver.ts` and add one line here;
 * automatic choice, configuration, and `REEVE_SANDBOX` follow from this list.
 */
const factories = {
  kubernetes: ({ image, runtime, kubernetes }) =>
    new KubernetesDriver({ image, runtimeClass: runtime, ...kubernetes }),
  docker: ({ identity, image, runtime, docker }) =>
    new DockerDriver({ identity, image, runtime, ...docker }),
  bubblewrap: ({ identity }) => new BubblewrapDriver(identity),
  "unsafe-local": ({ identity }) => new UnsafeLocalDriver(identity),
  "files-only": ({ identity }) => new FilesOnlyDriver(new UnsafeLocalDriver(identity)),
} satisfies Readonly<Record<string, (settings: DriverSettings) => SandboxDriver>>;

/** Names of all drivers, the preferred first. */
export const driverNames = Object.keys(factories) as readonly (keyof typeof factories)[];

/** Creates all drivers, the preferred first. Nothing is started or probed. */
export function createDrivers(settings: DriverSettings): readonly SandboxDriver[] {
  return Object.values(factories).map((create) => create(settings));
}
