import type { SandboxFeatures } from "@reeve/contracts/tool";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { createDrivers } from "@reeve/sandbox/drivers";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { workspaceRoot } from "@reeve/sandbox/host/workspace-root";
import { chooseDriver } from "@reeve/sandbox/lifecycle/choose-driver";
import type { Lookups } from "@reeve/sandbox/network/lookups";
import type { NetworkCredential } from "@reeve/sandbox/network/network-credential";
import type { SandboxDriver } from "@reeve/sandbox/port";
import type { WorkspaceStorage } from "@reeve/sandbox/storage/workspace-storage";
import type { ToolhostConfig } from "../../config.ts";
import type { WaitingSandboxes } from "./open-storage.ts";
import { openStorage } from "./open-storage.ts";

/** The sandboxes of a host. */
export type Sandboxes = AsyncDisposable &
  (
    | {
        readonly isolation: string;
        readonly driver: SandboxDriver;
        readonly storage: WorkspaceStorage;
        /** Folder of this host for the skills that sandboxes mount. Absent: they mount none. */
        readonly skillsRoot?: string | undefined;
        /** How many sandboxes wait for a command now. */
        readonly waiting: () => WaitingSandboxes;
        /** What the sandboxes offer to code and commands. Absent: they run none. */
        readonly features?: SandboxFeatures;
        /** Why the sandboxes run no code but our own file programs. Absent: they run any code. */
        readonly codeRefusal?: string;
      }
    | {
        readonly isolation: "none";
        readonly driver?: undefined;
        readonly storage?: undefined;
        readonly features?: undefined;
        readonly waiting?: undefined;
        /** Why there are no sandboxes. */
        readonly refusal: string;
      }
  );

interface SandboxesOptions {
  readonly log: Logger;
  /** The credentials that proxies of sandboxes may use. */
  readonly credentials: readonly NetworkCredential[];
  /** The lookups of this process. */
  readonly lookups: Lookups;
}

/**
 * Chooses the isolation of this host and opens its workspace storage. If none works, the refusal, which is also logged, says
 * what was tried and what would help.
 */
export async function openSandboxes(
  config: ToolhostConfig,
  { log, credentials, lookups }: SandboxesOptions,
  signal: AbortSignal,
): Promise<Sandboxes> {
  const identity = sandboxIdentity(config.REEVE_SANDBOX_UID);
  const drivers = createDrivers({
    identity,
    image: config.REEVE_SANDBOX_IMAGE,
    runtime: config.REEVE_SANDBOX_RUNTIME,
    docker: {
      address: config.DOCKER_HOST,
      probeDir: () => workspaceRoot(config.REEVE_DATA_DIR, identity),
    },
    kubernetes: {
      // A kubeconfig that happens to exist does not mean that pods are wanted there.
      kubeconfig: config.REEVE_SANDBOX === "kubernetes" ? config.KUBECONFIG : undefined,
      isInside: config.KUBERNETES_SERVICE_HOST !== undefined,
      namespace: config.REEVE_SANDBOX_NAMESPACE,
      warmPool: config.REEVE_SANDBOX_WARM_POOL,
    },
  });
  const choice = await chooseDriver(config.REEVE_SANDBOX, drivers, { log }, signal);
  if (choice.driver === undefined) {
    const { refusal } = choice;
    return { isolation: "none", refusal, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const { driver, storage, features, skillsRoot, waiting, resources } = openStorage(
    { driver: choice.driver, isolates: choice.report.isolates, identity },
    config,
    { log, credentials, lookups },
  );
  return {
    isolation: driver.name,
    driver,
    storage,
    skillsRoot,
    waiting,
    ...(choice.refusal === undefined ? { features } : { codeRefusal: choice.refusal }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
