import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** How far the time of a webhook may be from now. */
const toleranceMs = 300_000;
/** How many signatures of a request are compared. */
const maxSignatures = 10;

/** A request as its sender signed it, by Standard Webhooks. */
export interface SignedRequest {
  readonly webhookId: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  readonly body: Uint8Array;
}

/** Compared with if a trigger does not exist, so that a refusal takes as long. */
const noKey = randomBytes(32);

/**
 * Whether a request has the signature of one of `keys`, and a time within five minutes of `nowMs`. Compares in constant time. The bytes
 * of the body are signed as they are; packages that decode them first accept several bodies for one signature.
 */
export function isSigned(
  { webhookId, timestamp, signature, body }: SignedRequest,
  keys: readonly Uint8Array[],
  nowMs: number,
): boolean {
  const isTimely =
    /^\d{1,12}$/.test(timestamp ?? "") &&
    Math.abs(nowMs - Number(timestamp) * 1_000) <= toleranceMs;
  const given = (signature ?? "")
    .split(" ", maxSignatures)
    .flatMap((each) => (each.startsWith("v1,") ? [Buffer.from(each.slice(3), "base64")] : []));
  let isEqual = false;
  for (const key of keys.length === 0 ? [noKey] : keys) {
    const signed = createHmac("sha256", key).update(`${webhookId}.${timestamp}.`).update(body);
    const expected = signed.digest();
    for (const each of given) {
      const isSame = each.length === expected.length && timingSafeEqual(each, expected);
      isEqual ||= isSame && keys.length > 0;
    }
  }
  return isEqual && isTimely && isWebhookId(webhookId);
}

/** Whether a text can be the id of a webhook. */
function isWebhookId(text: string | undefined): boolean {
  return text !== undefined && /^[\x21-\x7e]{1,256}$/.test(text);
}
