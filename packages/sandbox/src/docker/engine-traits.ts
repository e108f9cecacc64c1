import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import type { Engine } from "./engine.ts";

const gvisor = "runsc";
const info = z.object({ NCPU: z.number(), Runtimes: z.record(z.string(), z.unknown()) });

/** What an engine has, as far as it matters to us. */
export interface EngineTraits {
  readonly machineProcessors: number;
  readonly runtimes: readonly string[];
}

/** Asks an engine. Throws a Failure where what answers is none. */
export async function readEngineTraits(engine: Engine, signal: AbortSignal): Promise<EngineTraits> {
  const told = info.safeParse(await engine.get("/info", signal));
  if (!told.success) {
    const problem = "what answers as the container engine is none";
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause: told.error });
  }
  const { NCPU, Runtimes } = told.data;
  return { machineProcessors: NCPU, runtimes: Object.keys(Runtimes) };
}

/**
 * The runtimes to be tried, the best first; undefined is the engine's own. One that is named is the only one. Throws a
 * Failure where the engine does not have it.
 */
export function candidateRuntimes(
  { runtimes }: Pick<EngineTraits, "runtimes">,
  named: string | undefined,
): readonly (string | undefined)[] {
  if (named === undefined) return runtimes.includes(gvisor) ? [gvisor, undefined] : [undefined];
  if (runtimes.includes(named)) return [named];
  const problem = `the engine has no runtime ${named}, but ${runtimes.join(", ")}`;
  throw new Failure("precondition", ErrorReason.INVALID_REQUEST, problem);
}
