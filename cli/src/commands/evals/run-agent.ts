import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client, Run } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import type { StartRunRequestSchema } from "@reeve/contracts/run";
import { RunStatusSchema } from "@reeve/contracts/run";

/** How long a run may take. */
export interface RunLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A run that has ended, or why there is none. */
export interface RanAgent {
  readonly run: Run | undefined;
  /** Why it did not complete. Empty if it did. */
  readonly problem: string;
}

/** How long the cancellation of a run may take that took too long. */
const cancelMs = 10_000;

/**
 * Runs an agent until the run has ended. A run that takes too long is cancelled. A refusal of the server is a problem of this run; that
 * the server cannot be reached, or does not accept the caller, is thrown.
 */
export async function runAgent(
  reeve: Client,
  request: MessageInitShape<typeof StartRunRequestSchema>,
  { timeoutMs, signal }: RunLimits,
): Promise<RanAgent> {
  const late = AbortSignal.timeout(timeoutMs);
  const until = AbortSignal.any([signal, late]);
  let runId: string | undefined;
  try {
    ({ runId } = await reeve.startRun(request, { signal: until }));
    for await (const _ of reeve.watch(runId, { detailed: false, signal: until }));
    const run = await reeve.getRun(runId, { signal: until });
    return { run, problem: problemOf(run) };
  } catch (error) {
    if (runId !== undefined && until.aborted) await cancel(reeve, runId);
    signal.throwIfAborted();
    if (late.aborted) {
      const run = runId === undefined ? undefined : await reeve.getRun(runId, { signal });
      return { run, problem: `took longer than ${timeoutMs / 1_000} seconds` };
    }
    if (!(error instanceof ReeveError) || ends.has(error.reason)) throw error;
    return { run: undefined, problem: error.message };
  }
}

/** The reasons for which no other run would start either. */
const ends: ReadonlySet<string> = new Set([
  "UNAVAILABLE",
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "",
]);

async function cancel(reeve: Client, runId: string): Promise<void> {
  const signal = AbortSignal.timeout(cancelMs);
  // It may have ended meanwhile.
  await reeve.cancel(runId, "the eval ended", { signal }).catch(() => undefined);
}

function problemOf({ status, error }: Run): string {
  if (error !== undefined) return error.message;
  const name = RunStatusSchema.value[status]?.localName.toLowerCase() ?? "";
  return name === "completed" ? "" : `the run is ${name}`;
}
