import { AgentCard, canonicalizeAgentCard } from "@a2a-js/sdk";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import type { JWK } from "jose";
import { base64url, decodeProtectedHeader, flattenedVerify } from "jose";
import { limited } from "./permitted-fetch.ts";
import type { Remote } from "./remotes-file.ts";
import { keysIn } from "./read-keys.ts";
import { isBelow } from "./remotes-file.ts";

/** Signatures with a shared secret prove nothing. */
const algorithms = ["EdDSA", "Ed25519", "ES256", "ES384", "ES512", "PS256", "RS256"];
const maxKeysBytes = 64 * 1024;
const maxSignatures = 10;

/**
 * Checks the signatures of a card in JSON. The keys are those of the operator's entry: then the card must have a valid signature. Without them, they
 * are those at an address that the signature names and the entry permits; a card whose signatures name no such address counts as one
 * without signatures. Throws a ModelFailure for a card that is not, or not validly, signed.
 */
export async function verifyCard(
  card: object,
  { name, prefix, cardKeys }: Pick<Remote, "name" | "prefix" | "cardKeys">,
  fetchImpl: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<void> {
  const { signatures, ...signed } = AgentCard.fromJSON(card);
  if (cardKeys === undefined && signatures.length === 0) return;
  // Of the whole card, and of the card without its security schemes, because the A2A project's library for JavaScript signs that. Nothing
  // here depends on the schemes: the operator's entry names the credential.
  const partial = { ...signed, signatures: [], securitySchemes: {} };
  // The parameter has the form of the library, which canonicalizes JSON completely.
  const payloads = [card as AgentCard, partial].map(payloadOf);
  let isChecked = cardKeys !== undefined;
  for (const { header, ...given } of signatures.slice(0, maxSignatures)) {
    const signature = { ...given, ...(header && { header }) };
    const { kid, jku } = headerOf(signature);
    const isNamed = jku !== undefined && isBelow(prefix, jku);
    if (cardKeys === undefined && !isNamed) continue;
    isChecked = true;
    const keys = cardKeys ?? (await readKeys(jku ?? "", fetchImpl, signal));
    const own = keys.filter((key) => kid === undefined || key.kid === undefined || key.kid === kid);
    for (const payload of payloads) {
      for (const key of own) {
        const verified = await flattenedVerify({ ...signature, payload }, key, {
          algorithms,
        }).catch(() => undefined);
        if (verified !== undefined) return;
      }
    }
  }
  if (!isChecked) return;
  const problem =
    signatures.length === 0
      ? "has no signature, which card_keys of its entry requires"
      : "has no valid signature: it was changed, or is signed with another key";
  throw new ModelFailure("refused", `the agent card of the remote ${name} ${problem}`);
}

function payloadOf(card: AgentCard): string {
  return base64url.encode(new TextEncoder().encode(canonicalizeAgentCard(card)));
}

function headerOf(signature: { readonly protected: string }) {
  try {
    return decodeProtectedHeader(signature);
  } catch {
    return {};
  }
}

async function readKeys(
  url: string,
  fetchImpl: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<readonly JWK[]> {
  const response = await fetchImpl(url, { signal });
  const text = await limited(response, maxKeysBytes).text();
  return (response.ok ? keysIn(text) : undefined) ?? [];
}
