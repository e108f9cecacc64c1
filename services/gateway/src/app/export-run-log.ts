import type { MessageInitShape } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import type { ExportRunLogResponseSchema, StoredRunBatchSchema } from "@reeve/contracts/run";
import { RunBatchSchema } from "@reeve/contracts/run";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { GatewayPorts } from "./gateway-ports.ts";
import { runNotFound } from "./read-run.ts";

/** How much is sent in one message. With the largest batch added, it is below the default limit of gRPC clients, 4 MiB. */
const maxBytes = 1024 * 1024;
const logSubject = channelOf(RunBatchSchema);

/**
 * Yields the stored batches of a run, and first what the index said of it before the log was read: the log then contains at
 * least what the index shows. Throws a Failure of kind `not_found` if the run does not exist.
 */
export async function* exportRunLog(
  { logBatches, runs }: Pick<GatewayPorts, "logBatches" | "runs">,
  { tenant, run }: RunKey,
  signal: AbortSignal,
): AsyncIterable<MessageInitShape<typeof ExportRunLogResponseSchema>> {
  const subject = logSubject.subject({ tenant, run });
  const row = await runs.get(`${tenant}.${run}`, signal);
  let indexedRun = row && { indexedRun: row.record };
  let batches: MessageInitShape<typeof StoredRunBatchSchema>[] = [];
  let bytes = 0;
  let isEmpty = true;
  for await (const { first, last, data, revision, ...batch } of logBatches.readBatches(
    { tenant, run },
    signal,
  )) {
    isEmpty = false;
    const { digest, kinds } = batch;
    batches.push({
      revision: BigInt(revision),
      firstSequence: first,
      lastSequence: last,
      kinds: [...kinds],
      digest,
      payload: data,
    });
    bytes += data.length;
    if (bytes < maxBytes) continue;
    yield { subject, batches, ...indexedRun };
    [batches, bytes, indexedRun] = [[], 0, undefined];
  }
  // A run that the index shows and whose log is gone is a finding, not an unknown run.
  if (isEmpty && row === undefined) throw runNotFound(run);
  if (isEmpty || batches.length > 0) yield { subject, batches, ...indexedRun };
}
