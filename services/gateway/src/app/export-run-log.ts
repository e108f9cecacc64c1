import type { MessageInitShape } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import type { ExportRunLogResponseSchema, StoredRunBatchSchema } from "@reeve/contracts/run";
import { RunBatchSchema } from "@reeve/contracts/run";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "./gateway-ports.ts";
import { assertOwnMemories, readCreated } from "./memories-of-others.ts";
import { runKeyOf, runNotFound } from "./read-run.ts";

/** How much is sent in one message. With the largest batch added, it is below the default limit of gRPC clients, 4 MiB. */
const maxBytes = 1024 * 1024;
const logSubject = channelOf(RunBatchSchema);

/**
 * Yields the stored batches of a run, and first what the index said of it before the log was read: the log then contains at
 * least what the index shows. Throws a Failure of kind `not_found` if the run does not exist, and `denied` if it has the memories of
 * another user: what is exported is what was stored, so nothing could be left out.
 */
export async function* exportRunLog(
  { logBatches, logParts, runs }: Pick<GatewayPorts, "logBatches" | "logParts" | "runs">,
  { tenant, subject: reader }: Pick<Principal, "tenant" | "subject">,
  run: string,
  signal: AbortSignal,
): AsyncIterable<MessageInitShape<typeof ExportRunLogResponseSchema>> {
  const key = runKeyOf(tenant, run);
  // A start that cannot be read is one of the findings that an export is for.
  const created = await readCreated(logParts, key, signal).catch(() => undefined);
  signal.throwIfAborted();
  assertOwnMemories({ runId: run, created }, reader, "export its log");
  const subject = logSubject.subject({ tenant, run });
  const row = await runs.get(`${tenant}.${run}`, signal);
  let indexedRun = row && { indexedRun: row.record };
  let batches: MessageInitShape<typeof StoredRunBatchSchema>[] = [];
  let bytes = 0;
  let isEmpty = true;
  for await (const { first, last, data, revision, ...batch } of logBatches.readBatches(
    key,
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
