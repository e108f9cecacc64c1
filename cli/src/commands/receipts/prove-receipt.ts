import type { CallReceipt } from "@reeve/contracts/receipt";
import type { StoredRunBatch } from "@reeve/contracts/run";
import { receiptSource } from "@reeve/engine/verify/receipt-source";
import { Failure } from "@reeve/platform/failure";
import { contradictions } from "@reeve/run/receipts/contradictions";
import { openEnvelope } from "@reeve/run/receipts/envelope";
import type { VerifyingKey } from "@reeve/run/receipts/receipt-keys";
import { readStatement, receiptPayload } from "@reeve/run/receipts/receipt-statement";

/** What a receipt proves, or why it proves nothing. */
export type Proof =
  | { readonly kind: "refused"; readonly problems: readonly string[] }
  | {
      readonly kind: "verified";
      readonly keyId: string;
      readonly receipt: CallReceipt;
      readonly notes: readonly string[];
    };

/** Verifies the text of a receipt, and with a log, that the log gives the same receipt. Needs no server. */
export async function proveReceipt(
  text: string,
  keys: readonly VerifyingKey[],
  log: AsyncIterable<StoredRunBatch> | undefined,
): Promise<Proof> {
  const opened = openEnvelope(text, keys);
  if (opened.kind === "refused") return refused(`the receipt ${opened.problem}`);
  const { payload, keyId } = opened;
  const statement = readStatement(payload);
  if (typeof statement === "string") return refused(`the payload ${statement}`);
  const { receipt, isNewer } = statement;
  const problems = contradictions(receipt);
  if (problems.length > 0) return { kind: "refused", problems };
  const newer = "a newer version wrote the receipt: further fields are signed, and not shown here";
  const notes = isNewer ? [newer] : [];
  if (log === undefined) return { kind: "verified", keyId, receipt, notes };
  const problem = await differenceTo(log, receipt, payload);
  if (problem !== undefined) return refused(problem);
  return { kind: "verified", keyId, receipt, notes: [...notes, "the log gives the same receipt"] };
}

/** Computes the statement again from a log. Returns how it differs. */
async function differenceTo(
  batches: AsyncIterable<StoredRunBatch>,
  { runId: run, callId, log, contentOmitted: omitContent }: CallReceipt,
  payload: Uint8Array,
): Promise<string | undefined> {
  try {
    const source = await receiptSource({ subject: log?.subject ?? "", run, callId }, batches);
    const computed = receiptPayload(source, { omitContent });
    return Buffer.compare(computed, payload) === 0
      ? undefined
      : "the log gives another receipt: it is not the log that was signed, or another version of Reeve wrote the receipt";
  } catch (error) {
    // What is wrong with the file, and not with the log, is no finding.
    if (!(error instanceof Failure) || error.kind === "invalid") throw error;
    return `the log does not give the receipt: ${error.message}`;
  }
}

function refused(problem: string): Proof {
  return { kind: "refused", problems: [problem] };
}
