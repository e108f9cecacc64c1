import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { TriggerOwner, TriggerRecord, WebhookSecret } from "@reeve/contracts/trigger";
import { WebhookSecretSchema } from "@reeve/contracts/trigger";
import { withoutStarts } from "../stop-trigger.ts";

/** The length of a key, in bytes. */
const keyBytes = 32;
/** How long the secret before the newest stays valid. */
const overlapMs = 86_400_000;

/** A new secret, and its text for the sender. */
export interface IssuedSecret {
  readonly secret: WebhookSecret;
  readonly text: string;
}

/** Generates a secret. */
export function issueSecret(): IssuedSecret {
  const key = randomBytes(keyBytes);
  const text = `whsec_${key.toString("base64")}`;
  return { secret: create(WebhookSecretSchema, { key: new Uint8Array(key) }), text };
}

/** Returns the secrets of a trigger after it got a new one: that, and the one before, which is valid for another day. */
export function rotated(
  [last]: readonly WebhookSecret[],
  secret: WebhookSecret,
  nowMs: number,
): WebhookSecret[] {
  const expiresAt = timestampFromMs(nowMs + overlapMs);
  return last === undefined ? [secret] : [secret, { ...last, expiresAt }];
}

/**
 * Returns a trigger with its next owner. Secrets were issued to the owner of then: another person who has one would start runs of the
 * next owner, so none of them stays valid. Firings that were decided for that owner, with the input of then, start no run.
 */
export function ownedBy(record: TriggerRecord, owner: TriggerOwner): TriggerRecord {
  const { trigger } = record;
  if (trigger === undefined) return record;
  const taken = { ...record, trigger: { ...trigger, owner } };
  if (trigger.owner?.subject === owner.subject) return taken;
  const nowMs = owner.confirmedAt === undefined ? 0 : timestampMs(owner.confirmedAt);
  const problem = "the trigger has another owner since it was due";
  return { ...taken, secrets: [], pending: withoutStarts(record.pending, problem, nowMs) };
}

/** Returns the keys that are valid now. */
export function validKeys(secrets: readonly WebhookSecret[], nowMs: number): readonly Uint8Array[] {
  return secrets
    .filter(({ expiresAt }) => expiresAt === undefined || timestampMs(expiresAt) > nowMs)
    .map(({ key }) => key);
}
