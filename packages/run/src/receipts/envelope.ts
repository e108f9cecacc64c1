import { sign, verify } from "node:crypto";
import { create, fromJson, toJson } from "@bufbuild/protobuf";
import { canonicalJson } from "@reeve/contracts/digest/canonical-json";
import type { Envelope } from "@reeve/contracts/receipt";
import { EnvelopeSchema } from "@reeve/contracts/receipt";
import type { SigningKey, VerifyingKey } from "./receipt-keys.ts";

const payloadType = "application/vnd.in-toto+json";

/** Above any receipt that a server issues. */
export const maxEnvelopeBytes = 8 * 1024 * 1024;

/** Signs a payload. Ed25519 has no randomness: the same payload and key give the same envelope. */
export function sealEnvelope(payload: Uint8Array, { keyId, privateKey }: SigningKey): Envelope {
  const sig = sign(undefined, encoded(payloadType, payload), privateKey);
  return create(EnvelopeSchema, {
    payload,
    payloadType,
    signatures: [{ keyid: keyId, sig: new Uint8Array(sig) }],
  });
}

/** Returns the text of an envelope, in which everything is determined: canonical JSON without a line break. */
export function envelopeText(envelope: Envelope): string {
  return canonicalJson(toJson(EnvelopeSchema, envelope));
}

/** What a verification found: the signed payload, or why there is none, as the end of a sentence about the receipt. */
export type OpenedEnvelope =
  | { readonly kind: "verified"; readonly payload: Uint8Array; readonly keyId: string }
  | { readonly kind: "refused"; readonly problem: string };

/**
 * Verifies the text of an envelope with the key of `keys` that it names. Stricter than DSSE: the text must be exactly what
 * `envelopeText` returns, with or without a line feed at its end, so that no byte of it can change.
 */
export function openEnvelope(text: string, keys: readonly VerifyingKey[]): OpenedEnvelope {
  const envelope = parseEnvelope(text.endsWith("\n") ? text.slice(0, -1) : text);
  if (typeof envelope === "string") return refused(envelope);
  if (envelope.payloadType !== payloadType) {
    const shown = JSON.stringify(envelope.payloadType.slice(0, 100));
    return refused(`has the payload type ${shown}; receipts have ${payloadType}`);
  }
  const [signature] = envelope.signatures;
  if (signature === undefined || envelope.signatures.length > 1) {
    return refused(`has ${envelope.signatures.length} signatures; receipts have one`);
  }
  const key = keys.find(({ keyId }) => keyId === signature.keyid);
  if (key === undefined) {
    const known = keys.map(({ keyId }) => keyId).join(", ");
    const named = JSON.stringify(signature.keyid.slice(0, 64));
    return refused(`is signed by the key ${named}, and not by the given one: ${known}`);
  }
  const signed = encoded(envelope.payloadType, envelope.payload);
  if (!verify(undefined, signed, key.publicKey, signature.sig)) {
    return refused("does not have the signature of its key: it was altered, or never signed");
  }
  return { kind: "verified", payload: envelope.payload, keyId: key.keyId };
}

function parseEnvelope(text: string): Envelope | string {
  if (Buffer.byteLength(text) > maxEnvelopeBytes) {
    return `is larger than ${maxEnvelopeBytes} bytes, which no receipt is`;
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return "is not JSON";
  }
  let envelope: Envelope;
  try {
    // What JSON.parse returns is JSON.
    envelope = fromJson(EnvelopeSchema, json as never);
  } catch {
    return "is not an envelope of DSSE: an object with payload, payloadType, and signatures";
  }
  return envelopeText(envelope) === text
    ? envelope
    : "is not written as receipts are: other spaces, fields, or padding; request it again";
}

/** Returns the pre-authentication encoding of DSSE. */
function encoded(type: string, payload: Uint8Array): Uint8Array {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

function refused(problem: string): OpenedEnvelope {
  return { kind: "refused", problem };
}
