import type { Identity } from "@reeve/sandbox/host/identity";
import { WarmSandboxes } from "@reeve/sandbox/lifecycle/warm-sandboxes";
import { collect } from "@reeve/sandbox/files/collect";
import type { SandboxDriver, SandboxLimits } from "@reeve/sandbox/port";
import { defaultLimits } from "@reeve/sandbox/port";
import type { Attack, AttackBench } from "./attack.ts";
import type { DriverName } from "./driver-name.ts";
import type { HostTraps } from "./host-traps.ts";
import { workspaces } from "./host-traps.ts";
import { proberArguments, proberInput, proberOutcomes } from "./prober.ts";
import type { AttackedToolhost } from "./attacked-toolhost.ts";

export interface BenchOptions {
  readonly name: DriverName;
  readonly driver: SandboxDriver;
  readonly identity: Identity;
  readonly traps: HostTraps;
  readonly attacks: readonly Attack[];
  readonly signal: AbortSignal;
  readonly toolhost: () => Promise<AttackedToolhost>;
}

/** Opens a bench with the workspaces of two sessions, and sandboxes of one driver over both. */
export async function attackBench(options: BenchOptions): Promise<AttackBench> {
  const { name, driver, signal } = options;
  const resources = new AsyncDisposableStack();
  const { folder, workspace, secret } = await workspaces(options.identity, resources);
  const otherWorkspace = `${folder}/run_b`;
  const warm = resources.use(new WarmSandboxes(driver, { idleMs: 300_000, maxIdle: 4 }));
  const [box, otherBox] = [warm.sandboxFor(workspace), warm.sandboxFor(otherWorkspace)];
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
      return collect({ isolation: name, exec: (...args) => where.exec(...args) }, command, until);
    },
    probed: () => (probed ??= probe()),
    toolhost: () => (toolhost ??= options.toolhost()),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

export function limitsOf(limits: Partial<SandboxLimits> = {}): SandboxLimits {
  return { ...defaultLimits, timeoutMs: 60_000, ...limits };
}
