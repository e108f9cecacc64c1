import type {
  Bounds,
  Sandbox,
  SandboxDriver,
  SandboxLimits,
  SandboxSession,
} from "@reeve/sandbox/port";
import type { Collected } from "@reeve/sandbox/files/collect";
import type { AttackedToolhost } from "./attacked-toolhost.ts";
import type { DriverName } from "./driver-name.ts";
import type { Given, Ways } from "./prober.ts";

/** Outcome of an attack. `bounded` means that it affected only its own call, within the limits. */
export type Verdict =
  | { readonly kind: "stopped" }
  | { readonly kind: "bounded" }
  | { readonly kind: "not stopped"; readonly what: string };

export const stopped: Verdict = { kind: "stopped" };
export const bounded: Verdict = { kind: "bounded" };

export function harmed(what: string): Verdict {
  return { kind: "not stopped", what };
}

/**
 * The control of an attack, which shows that it would do harm without a boundary, so that a bug in its code is not taken for
 * safety. `outside` and `namespace`: the code runs without a sandbox, as an unprivileged user or as the owner of new
 * namespaces, and each way does harm, except those in `except`. `within`: the attack checks its own premises.
 */
export interface Control {
  readonly where: "outside" | "namespace" | "within" | "none";
  readonly except?: readonly string[];
  /** What the attack checks itself, or why there is no control. */
  readonly why?: string;
  /** A property of some machines that prevents the attack even without a sandbox. The control is skipped there. */
  readonly differs?: string;
}

/** A driver under attack, with the workspaces of two sessions and sandboxes over both. */
export interface AttackBench extends AsyncDisposable {
  readonly name: DriverName;
  readonly driver: SandboxDriver;
  readonly signal: AbortSignal;
  /** Targets on this machine. */
  readonly given: Given;
  /** Paths on the host of the workspaces of the attacker and of the other session. */
  readonly workspace: string;
  readonly otherWorkspace: string;
  /** Sandboxes of the attacker and of the other session. */
  readonly box: Sandbox;
  readonly otherBox: Sandbox;
  /** Opens a new sandbox over the attacker's workspace. */
  open(limits?: Partial<SandboxLimits>): Promise<SandboxSession>;
  /** Runs Python in a sandbox of the attacker, or in `box`. */
  python(code: string, options?: PythonOptions): Promise<Collected>;
  /** Returns the outcomes of the prober, which runs once. */
  probed(): Promise<Readonly<Record<string, Ways>>>;
  /** Returns a toolhost with this driver, which is started once. */
  toolhost(): Promise<AttackedToolhost>;
}

export interface PythonOptions {
  readonly limits?: Partial<SandboxLimits>;
  readonly box?: Pick<SandboxSession, "exec">;
  readonly signal?: AbortSignal;
}

/** One attack, and how to try it against a driver. */
export interface Attack {
  readonly id: string;
  /** What an attacker does. */
  readonly attempt: string;
  /** What must hold. */
  readonly promise: string;
  readonly control: Control;
  /** Python code for the prober. Absent if the attack needs more than one program. */
  readonly code?: string;
  /** Tries the attack. Throws if the attack itself is broken. */
  run(bench: AttackBench): Promise<Verdict>;
  /** A limit for all processes of a sandbox together that the attack needs, and that not every machine supports. */
  readonly needs?: keyof Bounds;
  /** Why a driver cannot stop the attack, by driver. */
  readonly admitted?: Partial<Record<DriverName, string>>;
}

/** A group of attacks, as in docs/security.md. */
export interface Category {
  readonly title: string;
  readonly attacks: readonly Attack[];
}

/** Creates an attack that is code for the prober, which runs all of them in one call. */
export function probe({
  code,
  ...attack
}: Omit<Attack, "run" | "code"> & { readonly code: string }): Attack {
  return {
    ...attack,
    code,
    run: async (bench) => verdictOf(attack.id, (await bench.probed())[attack.id] ?? {}),
  };
}

function verdictOf(attack: string, outcomes: Ways): Verdict {
  const found = Object.entries(outcomes);
  const broken = found.filter(([, outcome]) => outcome.startsWith("broken"));
  if (found.length === 0 || broken.length > 0)
    throw new Error(`the attack ${attack} is broken: ${JSON.stringify(broken)}`);
  const ways = found.filter(([, outcome]) => outcome === "harm").map(([way]) => way);
  return ways.length === 0 ? stopped : harmed(ways.join(", "));
}
