import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HostTraps } from "./host-traps.ts";

const text = readFileSync(join(import.meta.dirname, "prober.py"), "utf8");

/** The command that tries attacks where it runs. */
export const proberArguments = ["-I", "-c", text];

/** What attacks are told of where they are. */
export interface Given extends HostTraps {
  /** A folder of their own. */
  readonly workspace: string;
  /** A file of another session, as the host knows it. */
  readonly secret: string;
  /** The process that speaks with the toolhost; 0 where there is none. */
  readonly first: number;
}

/** An attack, as far as the prober needs it. */
interface Probe {
  readonly id: string;
  readonly code?: string;
}

/** By each way of an attack: `harm`, `refused: why`, or `broken: why`. */
export type Ways = Readonly<Record<string, string>>;

/** What the prober reads. */
export function proberInput(given: Given, attacks: readonly Probe[]): Buffer {
  const probes = Object.fromEntries(
    attacks.flatMap(({ id, code }) => (code === undefined ? [] : [[id, code]])),
  );
  return Buffer.from(JSON.stringify({ given, probes }));
}

/** What the prober found, by attack. Throws when it said something else. */
export function proberOutcomes(stdout: string, stderr: string): Readonly<Record<string, Ways>> {
  try {
    // The prober is ours, and writes nothing else.
    return JSON.parse(stdout) as Record<string, Ways>;
  } catch (cause) {
    throw new Error(`the prober broke: ${stderr.slice(-2_000)} ${stdout.slice(-2_000)}`, { cause });
  }
}
