import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HostTraps } from "./host-traps.ts";

const text = readFileSync(join(import.meta.dirname, "prober.py"), "utf8");

/** Arguments of Python to run the prober. */
export const proberArguments = ["-I", "-c", text];

/** The targets of attacks. */
export interface Given extends HostTraps {
  /** The attackers' workspace. */
  readonly workspace: string;
  /** Path on the host of a file of another session. */
  readonly secret: string;
  /** Process id of the agent; 0 without a sandbox. */
  readonly first: number;
}

/** The part of an attack that the prober needs. */
interface Probe {
  readonly id: string;
  readonly code?: string;
}

/** Outcome of each way of an attack: `harm`, `refused: why`, or `broken: why`. */
export type Ways = Readonly<Record<string, string>>;

/** Returns the input of the prober. */
export function proberInput(given: Given, attacks: readonly Probe[]): Buffer {
  const probes = Object.fromEntries(
    attacks.flatMap(({ id, code }) => (code === undefined ? [] : [[id, code]])),
  );
  return Buffer.from(JSON.stringify({ given, probes }));
}

/** Parses the output of the prober: the outcomes by attack. Throws if it is not valid. */
export function proberOutcomes(stdout: string, stderr: string): Readonly<Record<string, Ways>> {
  try {
    // The prober is our own program, so its output needs no validation.
    return JSON.parse(stdout) as Record<string, Ways>;
  } catch (cause) {
    throw new Error(`the prober broke: ${stderr.slice(-2_000)} ${stdout.slice(-2_000)}`, { cause });
  }
}
