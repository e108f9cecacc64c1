import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { ReceiptLogSchema } from "@reeve/contracts/receipt";
import type { StoredRunBatch } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import { emptyHistory, historyAfter, isClosed } from "@reeve/run/receipts/call-history";
import type { ReceiptSource } from "@reeve/run/receipts/call-receipt";
import { endedCall } from "@reeve/run/receipts/ended-call";
import { checkBatch, startCheck } from "./check-batches.ts";

/**
 * Reads a call from the stored batches of its run's log, up to the batch with its result, or with the end of the run. Throws a Failure if the batches contradict
 * their digests, so that nothing altered is signed, and one that says why the call has no receipt.
 */
export async function receiptSource(
  {
    subject,
    run,
    callId,
  }: { readonly subject: string; readonly run: string; readonly callId: string },
  batches: AsyncIterable<StoredRunBatch> | Iterable<StoredRunBatch>,
): Promise<ReceiptSource> {
  const progress = startCheck();
  let history = emptyHistory(callId);
  for await (const batch of batches) {
    checkBatch(subject, batch, progress);
    // The header has the kinds of a newer version, which this one does not know: the history refuses them itself.
    const isNewer = progress.events.some(({ event }) => event.case === undefined);
    const problem = progress.problems.find(({ kind }) => !isNewer || kind !== "wrong_header");
    if (problem !== undefined) throw altered(run, problem.message);
    // Taken out, so that a long log is not kept in memory.
    const events = progress.events.splice(0);
    const foreign = events.find(({ runId }) => runId !== run);
    if (foreign !== undefined)
      throw altered(run, `event ${foreign.sequence} belongs to another run`);
    history = events.reduce(historyAfter, history);
    if (isClosed(history)) break;
  }
  const ended = endedCall(run, history);
  const { sequence = 0, digest = "" } = progress.digests.at(-1) ?? {};
  const { chainedFrom } = progress;
  const log = create(ReceiptLogSchema, {
    subject,
    throughSequence: sequence,
    digest: chainedFrom === 0 ? "" : digest,
    chainedFrom,
  });
  return { ended, log };
}

function altered(run: string, problem: string): Failure {
  const message = `the log of run ${run} was altered, and it therefore has no receipts: ${problem}; verify the log with \`reeve verify ${run}\``;
  return new Failure("data_loss", ErrorReason.HISTORY_LOST, message, { metadata: { run_id: run } });
}
