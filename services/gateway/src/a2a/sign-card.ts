import type { KeyObject } from "node:crypto";
import { createPrivateKey, createPublicKey } from "node:crypto";
import type { AgentCardSignature } from "@a2a-js/sdk";
import { AgentCard, generateAgentCardSignature } from "@a2a-js/sdk";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { watchFiles } from "@reeve/platform/process/watch-files";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { JWK } from "jose";
import { calculateJwkThumbprint, exportJWK } from "jose";

/** Signs agent cards. */
export interface CardSigner {
  /** Returns a card with signatures, whose headers name the address of the public key. */
  sign(card: AgentCard, keysUrl: string): Promise<AgentCard>;
  /** Returns the public key as a set of keys (JWKS). */
  keys(): Promise<{ readonly keys: readonly JWK[] }>;
}

const setting = "REEVE_A2A_CARD_KEY_FILE";
const algorithms: Readonly<Record<string, string>> = {
  ed25519: "EdDSA",
  prime256v1: "ES256",
  secp384r1: "ES384",
};

/** Opens the key that signs agent cards. Its file is read again when it changes. Undefined: cards are not signed. Throws a Failure for an unusable key. */
export function openCardSigner(
  path: string | undefined,
  log: Logger,
  resources: AsyncDisposableStack,
): CardSigner | undefined {
  if (path === undefined) return undefined;
  const parse = ([content]: readonly Buffer[]) => parseKey(content ?? Buffer.of(), path);
  const options = { noun: "file with the key for agent cards", log, parse };
  const watched = resources.use(watchFiles([{ setting, path }], options));
  return {
    async sign(card, jku) {
      const { key, alg } = watched.current;
      const { kid = "" } = await publicKeyOf(watched.current);
      const signer = generateAgentCardSignature(key, { alg, kid, typ: "JOSE", jku });
      return { ...card, signatures: await signaturesOf(card, signer) };
    },
    keys: async () => ({ keys: [await publicKeyOf(watched.current)] }),
  };
}

/**
 * Returns a signature of the whole card, and one for clients that leave the security schemes out of what they verify, as the A2A
 * project's client for JavaScript does. A client accepts a card if one of its signatures is valid.
 */
async function signaturesOf(
  card: AgentCard,
  sign: (card: AgentCard) => Promise<AgentCard>,
): Promise<AgentCardSignature[]> {
  const partial = await sign({ ...card, securitySchemes: {} });
  // The library canonicalizes JSON completely, but drops the schemes from its own form of a card.
  const whole = await sign(AgentCard.toJSON(card) as AgentCard);
  return [...partial.signatures, ...whole.signatures];
}

interface CardKey {
  readonly key: KeyObject;
  readonly alg: string;
}

function parseKey(content: Buffer, path: string): CardKey {
  try {
    const key = createPrivateKey(content);
    const { namedCurve = "" } = key.asymmetricKeyDetails ?? {};
    const alg = algorithms[namedCurve] ?? algorithms[key.asymmetricKeyType ?? ""];
    if (alg !== undefined) return { key, alg };
  } catch {
    // Refused below, without what the file contains.
  }
  const message = `${setting} ${path} has no usable key; it must be a private key in PEM for Ed25519, P-256, or P-384, without a password`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}

/** The id of a key is its thumbprint (RFC 7638). */
async function publicKeyOf({ key, alg }: CardKey): Promise<JWK> {
  const jwk = await exportJWK(createPublicKey(key));
  return { ...jwk, alg, use: "sig", kid: await calculateJwkThumbprint(jwk) };
}
