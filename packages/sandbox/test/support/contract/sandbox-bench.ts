import { chmod, chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Identity } from "../../../src/host/identity.ts";
import { SessionWorkspaceStorage } from "../../../src/storage/session-workspace-storage.ts";
import { WarmSandboxes } from "../../../src/lifecycle/warm-sandboxes.ts";
import type { Collected } from "../../../src/files/collect.ts";
import { collect } from "../../../src/files/collect.ts";
import type {
  Bounds,
  Sandbox,
  SandboxDriver,
  SandboxLimits,
  SandboxSession,
} from "../../../src/port.ts";
import { defaultLimits } from "../../../src/port.ts";
import type { TestAPI } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";

/** A driver that the contract tests. */
export interface DriverUnderTest {
  readonly driver: SandboxDriver;
  readonly identity: Identity;
  readonly bounds: Bounds;
  /** Path of the workspace inside the sandbox. Default: the same as on the host. */
  readonly inside?: string;
  /** Paths of the host that sandboxes do not see. */
  readonly hidden: readonly string[];
  /** Runs the commands of the tests over the same workspace, if the driver itself runs none. */
  readonly commands?: SandboxDriver;
}

/** A test that needs the workspace or the limits of this host. Skipped for sandboxes on other hosts. */
export type HostTest = TestAPI | ReturnType<TestAPI["skipIf"]>;

export const secret = "the-secret-of-the-host";
const warmOptions = { idleMs: 300_000, maxIdle: 4 };
export const signal = new AbortController().signal;

/** The workspaces of two runs, each with a secret, and sandboxes over the first. */
export interface SandboxBench extends AsyncDisposable, Omit<DriverUnderTest, "commands"> {
  readonly folder: string;
  readonly workspace: string;
  readonly inside: string;
  readonly box: Sandbox;
  /** Opens a new sandbox over the workspace. */
  open(): Promise<SandboxSession>;
  run(argv: readonly string[], limits?: Partial<SandboxLimits>): Promise<Collected>;
  /** Runs Python code and returns its output, or the last line of its error output. */
  python(code: string, limits?: Partial<SandboxLimits>): Promise<string>;
}

export async function sandboxBench(tested: DriverUnderTest): Promise<SandboxBench> {
  const { driver, identity } = tested;
  const resources = new AsyncDisposableStack();
  const folder = resources.use(await temporaryFolder()).path;
  await chmod(folder, 0o711);
  for (const run of ["run_a", "run_b"]) {
    await mkdir(join(folder, run), { mode: 0o700 });
    await writeFile(join(folder, run, "secret.txt"), secret);
    for (const path of [run, `${run}/secret.txt`]) {
      await chown(join(folder, path), identity.uid, identity.gid);
    }
  }
  const workspace = join(folder, "run_a");
  const warm = resources.use(
    driver.keepsWorkspace === "session" ? sessions(driver) : new WarmSandboxes(driver, warmOptions),
  );
  const box = warm.sandboxFor(workspace);
  const others = tested.commands && new WarmSandboxes(tested.commands, warmOptions);
  const commands = others === undefined ? box : resources.use(others).sandboxFor(workspace);
  const run: SandboxBench["run"] = (argv, limits = {}) =>
    collect(commands, { argv, limits: limitsOf(limits) }, signal);
  return {
    ...tested,
    inside: tested.inside ?? workspace,
    folder,
    workspace,
    box,
    run,
    open: () => driver.open({ ...defaultLimits, workspaceDir: workspace, readOnly: false }, signal),
    python: async (code, limits) => {
      const { text } = await run(["python3", "-I", "-c", code], limits);
      return text("stdout").trim() || (text("stderr").trim().split("\n").at(-1) ?? "");
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Sandboxes that keep their own workspaces: one session for each folder, replaced when it is gone. */
function sessions(driver: SandboxDriver): Pick<WarmSandboxes, "sandboxFor"> & AsyncDisposable {
  const storage = new SessionWorkspaceStorage(driver, warmOptions);
  return {
    sandboxFor: (folder) => ({
      isolation: driver.name,
      exec: (command, until) => storage.sandbox("acme", folder).exec(command, until),
    }),
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  };
}

export function limitsOf(limits: Partial<SandboxLimits> = {}): SandboxLimits {
  return { ...defaultLimits, timeoutMs: 60_000, ...limits };
}
