import type { Identity } from "../../../services/toolhost/src/adapters/bubblewrap/identity.ts";
import { WarmSandboxes } from "../../../services/toolhost/src/adapters/warm-sandboxes.ts";
import type { Collected } from "../../../services/toolhost/src/app/collect.ts";
import { collect } from "../../../services/toolhost/src/app/collect.ts";
import type {
  Sandbox,
  SandboxDriver,
  SandboxLimits,
  SandboxSession,
} from "../../../services/toolhost/src/ports/sandbox.ts";
import { defaultLimits } from "../../../services/toolhost/src/ports/sandbox.ts";
import type { Attack, DriverName, Ways } from "./attack.ts";
import type { HostTraps } from "./host-traps.ts";
import { workspaces } from "./host-traps.ts";
import type { Given } from "./prober.ts";
import { proberArguments, proberInput, proberOutcomes } from "./prober.ts";
import type { AttackedToolhost } from "./attacked-toolhost.ts";

/** A driver under attack: two workspaces of two sessions, with sandboxes over both. */
export interface AttackBench extends AsyncDisposable {
  readonly name: DriverName;
  readonly driver: SandboxDriver;
  readonly signal: AbortSignal;
  /** What there is to be found on the machine. */
  readonly given: Given;
  /** The workspaces of the attacker and of somebody else, as the host sees them. */
  readonly workspace: string;
  readonly otherWorkspace: string;
  /** Sandboxes of the attacker, and of somebody else. */
  readonly box: Sandbox;
  readonly otherBox: Sandbox;
  /** A sandbox of its own over the attacker's workspace. */
  open(limits?: Partial<SandboxLimits>): Promise<SandboxSession>;
  /** Runs Python in a sandbox of the attacker, or in `box`. */
  python(code: string, options?: PythonOptions): Promise<Collected>;
  /** What the prober found, which runs once. */
  probed(): Promise<Readonly<Record<string, Ways>>>;
  /** A toolhost with this driver. */
  toolhost(): Promise<AttackedToolhost>;
}

export interface PythonOptions {
  readonly limits?: Partial<SandboxLimits>;
  readonly box?: Pick<SandboxSession, "exec">;
  readonly signal?: AbortSignal;
}

export interface BenchOptions {
  readonly name: DriverName;
  readonly driver: SandboxDriver;
  readonly identity: Identity;
  readonly traps: HostTraps;
  readonly attacks: readonly Attack[];
  readonly signal: AbortSignal;
  readonly toolhost: () => Promise<AttackedToolhost>;
}

export async function attackBench(options: BenchOptions): Promise<AttackBench> {
  const { name, driver, signal } = options;
  const resources = new AsyncDisposableStack();
  const { folder, workspace, secret } = await workspaces(options.identity, resources);
  const otherWorkspace = `${folder}/run_b`;
  const warm = resources.use(new WarmSandboxes(driver, { idleMs: 300_000, mostIdle: 4 }));
  const [box, otherBox] = [warm.over(workspace), warm.over(otherWorkspace)];
  const given = { ...options.traps, workspace: "/workspace", secret, first: 1 };
  const probe = async () => {
    const stdin = proberInput(given, options.attacks);
    const command = { argv: ["python3", ...proberArguments], stdin, limits: limitsOf() };
    const { text } = await collect(box, command, signal);
    return proberOutcomes(text("stdout"), text("stderr"));
  };
  let probed: ReturnType<typeof probe> | undefined;
  let toolhost: Promise<AttackedToolhost> | undefined;
  return {
    name,
    driver,
    signal,
    given,
    workspace,
    otherWorkspace,
    box,
    otherBox,
    open: (limits = {}) =>
      driver.open(
        { ...defaultLimits, ...limits, workspaceDir: workspace, readOnly: false },
        signal,
      ),
    python: (code, { limits = {}, box: where = box, signal: until = signal } = {}) => {
      const command = { argv: ["python3", "-I", "-c", code], limits: limitsOf(limits) };
      return collect({ isolation: name, exec: (...given) => where.exec(...given) }, command, until);
    },
    probed: () => (probed ??= probe()),
    toolhost: () => (toolhost ??= options.toolhost()),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

export function limitsOf(limits: Partial<SandboxLimits> = {}): SandboxLimits {
  return { ...defaultLimits, timeoutMs: 60_000, ...limits };
}
