import { randomBytes } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DecideApprovalRequest, StepUp } from "@reeve/contracts/approval";
import { StepUpSchema } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import type { BeginConfirmationRequest } from "@reeve/contracts/passkey";
import { CeremonyKind, StoredPasskeySchema } from "@reeve/contracts/passkey";
import { CheckedRule } from "@reeve/contracts/queue";
import { Failure } from "@reeve/platform/failure";
import type { Confirmation } from "@reeve/run/approvals/votes/may-decide";
import { assertConfirmable } from "@reeve/run/approvals/passkeys/assert-confirmable";
import { decisionChallenge } from "@reeve/run/approvals/passkeys/decision-challenge";
import { assertChecked } from "@reeve/run/policy/runtime-checks";
import { readCeremony, storeCeremony, useCeremony } from "./ceremonies.ts";
import { changePasskeys, isFor, passkeysOf } from "./person-passkeys.ts";
import type { PasskeyPorts, Person } from "./passkey-ports.ts";
import { passkeyRefused, siteOf } from "./passkey-ports.ts";
import { challengeIn, confirmationOptions, verifiedCounter } from "./webauthn.ts";

const confirmationMs = 120_000;

/** The fields of a decision that a person confirms. */
type Confirmed = Pick<
  BeginConfirmationRequest,
  "approvalId" | "callDigest" | "editedArguments" | "breakGlass"
>;

/**
 * Begins the confirmation of an approval, and returns what the browser needs. Its challenge is for this decision of this person only.
 * Throws a Failure if the approval takes no decision, or a runtime is alive that would execute the call without one.
 */
export async function beginConfirmation(
  ports: PasskeyPorts,
  person: Person,
  request: Confirmed,
  signal: AbortSignal,
): Promise<JsonObject> {
  const site = siteOf(ports);
  const all = await passkeysOf(ports, person, signal);
  const existing = all.filter((each) => isFor(each, site));
  if (existing.length === 0) throw withoutPasskey(person);
  await assertConfirmable(ports, person.tenant, request, signal);
  await assertChecked(ports.holders, [CheckedRule.STEP_UP], signal);
  const nonce = randomBytes(32);
  const challenge = challengeOf(nonce, person, request);
  const ceremony = { person, secret: challenge, kind: CeremonyKind.CONFIRMATION };
  await storeCeremony(ports, ceremony, { lifetimeMs: confirmationMs, nonce }, signal);
  return await confirmationOptions(site, challenge, existing);
}

/**
 * Verifies how a person confirmed a decision, and uses the challenge up. Returns why a confirmation is refused instead of throwing it:
 * a repetition of a decision that was made needs none. Undefined: the request has no confirmation.
 */
export async function confirmationOf(
  ports: PasskeyPorts,
  person: Person,
  request: DecideApprovalRequest,
  signal: AbortSignal,
): Promise<Confirmation | undefined> {
  const { confirmation, approved } = request;
  if (confirmation === undefined || !approved) return undefined;
  try {
    return { stepUp: await verified(ports, person, { ...request, confirmation }, signal) };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "unavailable") throw error;
    return { refusal: error };
  }
}

async function verified(
  ports: PasskeyPorts,
  person: Person,
  { confirmation: response, ...decision }: Confirmed & { readonly confirmation: JsonObject },
  signal: AbortSignal,
): Promise<StepUp> {
  const site = siteOf(ports);
  const challenge = await challengeIn(response);
  const ceremony = { person, secret: challenge, kind: CeremonyKind.CONFIRMATION };
  const begun = await readCeremony(ports, ceremony, signal);
  // Read before the challenge is used up, so that it stays valid while they cannot be read.
  const existing = await passkeysOf(ports, person, signal);
  await assertChecked(ports.holders, [CheckedRule.STEP_UP], signal);
  await useCeremony(ports, ceremony, signal);
  if (!challengeOf(begun.nonce, person, decision).every((byte, at) => byte === challenge[at])) {
    throw passkeyRefused("the passkey confirmed another decision than this one");
  }
  const credentialId = typeof response["id"] === "string" ? response["id"] : "";
  const stored = existing.find(({ passkey }) => passkey?.credentialId === credentialId);
  if (stored === undefined) throw unknownPasskey(person);
  const counter = await verifiedCounter(site, { response, challenge }, stored);
  const nowMs = ports.clock.now();
  await changePasskeys(
    ports,
    person,
    (now) => {
      const latest = now.find(({ passkey }) => passkey?.credentialId === credentialId);
      // One that was revoked and registered again meanwhile is another one.
      const isSame = latest !== undefined && Buffer.from(latest.publicKey).equals(stored.publicKey);
      if (latest?.passkey === undefined || !isSame) throw unknownPasskey(person);
      if (Math.max(counter, latest.counter) > 0 && counter <= latest.counter) {
        throw passkeyRefused(
          `the counter of the passkey did not go up from ${latest.counter}; if that lasts, somebody may have a copy of it: revoke it`,
        );
      }
      const used = create(StoredPasskeySchema, {
        ...latest,
        passkey: { ...latest.passkey, lastUsedAt: timestampFromMs(nowMs) },
        counter,
      });
      return now.map((each) => (each === latest ? used : each));
    },
    signal,
  );
  return create(StepUpSchema, { credentialId, verifiedAt: timestampFromMs(nowMs) });
}

function challengeOf(
  nonce: Uint8Array,
  { tenant, subject }: Person,
  { approvalId, callDigest, editedArguments, breakGlass }: Confirmed,
): Uint8Array<ArrayBuffer> {
  const decision = { tenant, subject, approvalId, callDigest, editedArguments, breakGlass };
  return decisionChallenge(nonce, decision);
}

function withoutPasskey({ subject }: Person): Failure {
  const message = `${subject} has no passkey; register one in the console, with an invitation of an operator (\`reeve passkeys invite\`)`;
  return new Failure("precondition", ErrorReason.PASSKEY_REQUIRED, message);
}

function unknownPasskey({ subject }: Person): Failure {
  return passkeyRefused(`${subject} has no such passkey: it was never registered, or was revoked`);
}
