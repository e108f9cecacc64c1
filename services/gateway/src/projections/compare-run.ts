import { equals } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import type { Run } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { dropOrphan } from "@reeve/jetstream/projection/drop-orphans";
import type { LogEnd } from "@reeve/jetstream/projection/port";
import { foldRun } from "@reeve/run/commands/fold-run";
import { isTerminal } from "@reeve/run/head/run-status";
import type { IndexPorts } from "./run-index.ts";
import { runsOfLogs } from "./run-index.ts";
import { countEnd } from "./run-metrics.ts";
import { rowOf } from "./run-row.ts";

const { key: runKey } = bucketOf(RunSchema);
const maxAttempts = 20;

/**
 * Makes the row of a run agree with its log. Returns whether it did not. `quick` skips runs that have ended and whose row
 * reflects the last event.
 */
export async function compareRun(
  ports: IndexPorts,
  { key, sequence }: LogEnd<RunKey>,
  mode: "thorough" | "quick",
  signal: AbortSignal,
): Promise<boolean> {
  const { runs, log } = ports;
  const rowKey = runKey({ tenant: key.tenant, run: key.run });
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const row = await runs.get(rowKey, signal);
    if (mode === "quick" && row !== undefined && isSettled(row.record, sequence)) return false;
    const { events, tail } = await log.read(key, emptyTail, signal);
    // The run was deleted after its end was read.
    if (events.length === 0) return false;
    if (tail.sequence < sequence) {
      throw new Error(`the log of run ${key.run} was read from a lagging replica`);
    }
    const after = rowOf(await foldRun(events, signal));
    if (row !== undefined && agrees(row.record, after)) return false;
    const written =
      row === undefined
        ? await runs.create(rowKey, after, signal)
        : await runs.update(rowKey, after, row.revision, signal);
    if (written === undefined) continue;
    if (row === undefined) return !(await dropOrphan(runsOfLogs(ports), written, signal));
    // A row that was lost was counted before.
    countEnd(row.record, after);
    return true;
  }
  throw new Error(
    `the row of run ${key.run} was not written: other writers were first in all ${maxAttempts} attempts`,
  );
}

function isSettled(
  { status, lastSequence, unknownEventSequence, deleting }: Run,
  sequence: number,
): boolean {
  const isKnown = unknownEventSequence === 0 && !deleting;
  return isTerminal(status) && lastSequence === sequence && isKnown;
}

/** Events that change nothing in the row do not advance its last sequence. */
function agrees(row: Run, truth: Run): boolean {
  return equals(RunSchema, { ...row, lastSequence: truth.lastSequence }, truth);
}
