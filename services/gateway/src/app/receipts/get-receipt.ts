import { create } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { Envelope, GetReceiptRequest } from "@reeve/contracts/receipt";
import type { StoredRunBatch } from "@reeve/contracts/run";
import { RunBatchSchema, StoredRunBatchSchema } from "@reeve/contracts/run";
import { receiptSource } from "@reeve/engine/verify/receipt-source";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { Failure } from "@reeve/platform/failure";
import { sealEnvelope } from "@reeve/run/receipts/envelope";
import { receiptPayload } from "@reeve/run/receipts/receipt-statement";
import type { ReceiptKeys } from "../../receipts/open-receipt-keys.ts";
import type { GatewayPorts } from "../gateway-ports.ts";
import { runNotFound } from "../read-run.ts";

/** With its envelope, below the default limit of gRPC clients, 4 MiB, also in JSON. */
const maxPayloadBytes = 2 * 1024 * 1024;
const logSubject = channelOf(RunBatchSchema);

export interface ReceiptPorts extends Pick<GatewayPorts, "logBatches"> {
  receiptKeys(): ReceiptKeys;
  /** Limits how many logs are read for receipts at the same time, by tenant. */
  readonly walks: Pick<KeyedSemaphore, "acquire">;
}

/**
 * Returns the signed receipt of a call of the tenant. Throws a Failure if the call has none, if its log was altered, or if the
 * deployment has no key.
 */
export async function getReceipt(
  { logBatches, receiptKeys, walks }: ReceiptPorts,
  { tenant, run }: RunKey,
  { callId, omitContent }: Pick<GetReceiptRequest, "callId" | "omitContent">,
  signal: AbortSignal,
): Promise<Envelope> {
  using permit = await walks.acquire(tenant, signal);
  if (permit === undefined) throw tooMany();
  const subject = logSubject.subject({ tenant, run });
  const batches = storedBatches(logBatches, { tenant, run }, signal);
  const source = await receiptSource({ subject, run, callId }, batches);
  const { signing } = receiptKeys();
  if (signing === undefined) throw keyMissing();
  const payload = receiptPayload(source, { omitContent });
  if (payload.length > maxPayloadBytes) throw tooLarge(callId, payload.length, omitContent);
  return sealEnvelope(payload, signing);
}

/** Yields the batches of a log. Throws a Failure if there are none. */
async function* storedBatches(
  logBatches: GatewayPorts["logBatches"],
  key: RunKey,
  signal: AbortSignal,
): AsyncIterable<StoredRunBatch> {
  let isEmpty = true;
  for await (const batch of logBatches.readBatches(key, signal)) {
    isEmpty = false;
    const { revision, first, last, kinds, digest, data } = batch;
    yield create(StoredRunBatchSchema, {
      revision: BigInt(revision),
      firstSequence: first,
      lastSequence: last,
      kinds: [...kinds],
      digest,
      payload: data,
    });
  }
  if (isEmpty) throw runNotFound(key.run);
}

function tooMany(): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    "too many receipts of the tenant are requested at once; try again in a few seconds",
  );
}

function keyMissing(): Failure {
  return new Failure(
    "precondition",
    ErrorReason.RECEIPT_KEY_MISSING,
    "this deployment has no key for receipts; its operator sets REEVE_RECEIPT_KEY_FILE of the gateways",
  );
}

function tooLarge(callId: string, bytes: number, omitContent: boolean): Failure {
  const advice = omitContent ? "read the events of the run" : "request it without content";
  const message = `the receipt of call ${callId} has ${bytes} bytes, more than ${maxPayloadBytes}; ${advice}`;
  return new Failure("exhausted", ErrorReason.TOO_LARGE, message, {
    metadata: { call_id: callId },
  });
}
