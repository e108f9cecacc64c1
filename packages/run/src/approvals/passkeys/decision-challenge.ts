import { createHash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { jsonDigest } from "@reeve/contracts/digest/json-digest";

/** An approval that a person confirms with a passkey. */
export interface ConfirmedDecision {
  readonly tenant: string;
  readonly subject: string;
  readonly approvalId: string;
  readonly callDigest: string;
  readonly editedArguments: JsonObject | undefined;
  readonly breakGlass: boolean;
}

const purpose = "reeve approval confirmation v1";

/**
 * Returns the challenge that an authenticator signs for an approval: SHA-256 over a nonce and the digest of everything that the person
 * decides on. A signature for another person, call, or argument does not fit.
 */
export function decisionChallenge(
  nonce: Uint8Array,
  { tenant, subject, approvalId, callDigest, editedArguments, breakGlass }: ConfirmedDecision,
): Uint8Array<ArrayBuffer> {
  const decided = jsonDigest({
    purpose,
    decision: "approve",
    tenant,
    subject,
    approval_id: approvalId,
    call_digest: callDigest,
    edited_arguments: editedArguments ?? null,
    break_glass: breakGlass,
  });
  return new Uint8Array(createHash("sha256").update(nonce).update(decided).digest());
}
