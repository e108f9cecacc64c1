import { readStatement, receiptPayload } from "@reeve/run/receipts/receipt-statement";
import { receiptSource } from "../../src/verify/receipt-source.ts";
import { decidedCallId } from "./decided-call.ts";
import type { StoredLog } from "./stored-log.ts";

/** Makes the receipt of a call of a stored log, as the bytes that are signed. */
export async function payloadOf(
  { subject, runId: run, batches }: Pick<StoredLog, "subject" | "runId" | "batches">,
  callId = decidedCallId,
): Promise<Uint8Array> {
  return receiptPayload(await receiptSource({ subject, run, callId }, batches), {
    omitContent: false,
  });
}

/** Makes the receipt of a call of a stored log, and reads it as a verifier does. */
export async function receiptIn(
  ...given: Parameters<typeof payloadOf>
): Promise<Exclude<ReturnType<typeof readStatement>, string>> {
  const statement = readStatement(await payloadOf(...given));
  if (typeof statement === "string") throw new Error(`the payload ${statement}`);
  return statement;
}
