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

/** What became of an attack. Bounded: it did what it does, to itself and no further, and was ended. */
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
 * How it is known that an attack would do harm if nothing stopped it, so that a slip in its code is not taken for safety.
 * `outside` and `namespace`: its code is run without the boundary, as a user without rights or as the owner of fresh
 * namespaces, and each way but those in `except` does harm. `within`: the attack itself shows what it rests on.
 */
export interface Control {
  readonly where: "outside" | "namespace" | "within" | "none";
  readonly except?: readonly string[];
  /** What is shown within, or why nothing can be. */
  readonly why?: string;
  /** What a machine may refuse by itself, or not have; nothing is shown there. */
  readonly differs?: string;
}

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

/** One attack: what an attacker does, and how that is tried against a driver. */
export interface Attack {
  readonly id: string;
  /** What an attacker does. */
  readonly attempt: string;
  /** What must hold. */
  readonly promise: string;
  readonly control: Control;
  /** Python for the prober. Absent: the attack is more than one program. */
  readonly code?: string;
  /** Throws what the attack itself got wrong. */
  run(bench: AttackBench): Promise<Verdict>;
  /** What has to be bounded for all processes of a sandbox together; not every machine can. */
  readonly needs?: keyof Bounds;
  /** Of a driver that cannot stop it, why. */
  readonly admitted?: Partial<Record<DriverName, string>>;
}

/** Attacks with something in common. */
export interface Category {
  readonly title: string;
  readonly attacks: readonly Attack[];
}

/** An attack that is a program for the prober. All of them run together, in one call. */
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
    throw new Error(`the attack ${attack} is wrong: ${JSON.stringify(broken)}`);
  const ways = found.filter(([, outcome]) => outcome === "harm").map(([way]) => way);
  return ways.length === 0 ? stopped : harmed(ways.join(", "));
}
