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

/** A driver that is held to the contract. */
export interface DriverUnderTest {
  readonly driver: SandboxDriver;
  readonly identity: Identity;
  readonly bounds: Bounds;
  /** Where the workspace lies inside; as outside when it is not told. */
  readonly inside?: string;
  /** Paths that no sandbox of it has. */
  readonly hidden: readonly string[];
  /** What runs the commands of the tests, over the same workspace, where the driver itself runs none. */
  readonly commands?: SandboxDriver;
}

/** A test that looks at the workspace from the host, or counts on what the host bounds; left out for sandboxes elsewhere. */
export type HostTest = TestAPI | ReturnType<TestAPI["skipIf"]>;

export const secret = "the-secret-of-the-host";
const warmth = { idleMs: 300_000, maxIdle: 4 };
export const signal = AbortSignal.timeout(300_000);

/** Two workspaces of two runs, each with a secret, and sandboxes over the first. */
export interface SandboxBench extends AsyncDisposable, Omit<DriverUnderTest, "commands"> {
  readonly folder: string;
  readonly workspace: string;
  readonly inside: string;
  readonly box: Sandbox;
  /** A sandbox of its own over the workspace. */
  open(): Promise<SandboxSession>;
  run(argv: readonly string[], limits?: Partial<SandboxLimits>): Promise<Collected>;
  /** Runs Python and gives what it printed, or the last line of its complaint. */
  python(code: string, limits?: Partial<SandboxLimits>): Promise<string>;
}

export async function sandboxBench(contender: DriverUnderTest): Promise<SandboxBench> {
  const { driver, identity } = contender;
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
    driver.keepsWorkspace === "session" ? sessions(driver) : new WarmSandboxes(driver, warmth),
  );
  const box = warm.sandboxFor(workspace);
  const others = contender.commands && new WarmSandboxes(contender.commands, warmth);
  const commands = others === undefined ? box : resources.use(others).sandboxFor(workspace);
  const run: SandboxBench["run"] = (argv, limits = {}) =>
    collect(commands, { argv, limits: limitsOf(limits) }, signal);
  return {
    ...contender,
    inside: contender.inside ?? workspace,
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

/** Sandboxes that keep their workspaces to themselves: one for each folder, made anew when it is gone. */
function sessions(driver: SandboxDriver): Pick<WarmSandboxes, "sandboxFor"> & AsyncDisposable {
  const place = new SessionWorkspaceStorage(driver, warmth);
  return {
    sandboxFor: (folder) => ({
      isolation: driver.name,
      exec: (command, until) => place.sandbox("acme", folder).exec(command, until),
    }),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

export function limitsOf(limits: Partial<SandboxLimits> = {}): SandboxLimits {
  return { ...defaultLimits, timeoutMs: 60_000, ...limits };
}
