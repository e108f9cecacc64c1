import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import type { Engine } from "./engine.ts";

const gvisor = "runsc";
const info = z.object({ NCPU: z.number(), Runtimes: z.record(z.string(), z.unknown()) });

/** Properties of an engine that sandboxes depend on. */
export interface EngineTraits {
  readonly machineProcessors: number;
  readonly runtimes: readonly string[];
}

/** Reads the properties of an engine. Throws a Failure if the server is not a container engine. */
export async function readEngineTraits(engine: Engine, signal: AbortSignal): Promise<EngineTraits> {
  const parsed = info.safeParse(await engine.get("/info", signal));
  if (!parsed.success) {
    const problem = "the server at DOCKER_HOST is not a container engine; check the address";
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause: parsed.error });
  }
  const { NCPU, Runtimes } = parsed.data;
  return { machineProcessors: NCPU, runtimes: Object.keys(Runtimes) };
}

/**
 * Returns the runtimes to try, the preferred first; undefined is the engine's default. A named runtime is the only candidate.
 * Throws a Failure if the engine does not have it.
 */
export function candidateRuntimes(
  { runtimes }: Pick<EngineTraits, "runtimes">,
  named: string | undefined,
): readonly (string | undefined)[] {
  if (named === undefined) return runtimes.includes(gvisor) ? [gvisor, undefined] : [undefined];
  if (runtimes.includes(named)) return [named];
  const problem = `the engine has no runtime ${named}, only ${runtimes.join(", ")}`;
  throw new Failure("precondition", ErrorReason.INVALID_REQUEST, problem);
}
