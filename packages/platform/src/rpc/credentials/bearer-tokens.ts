import { createHash } from "node:crypto";
import type { Credential, Grant } from "../credential.ts";

/** The bearer tokens that are valid. */
export interface Credentials {
  /**
   * Resolves to the grant of a token, or to undefined if the token is unknown. Rejects with a Failure that says why a token of
   * an identity provider is refused, or cannot be checked at the moment. `network` is that of the caller: see `addressGroup`.
   */
  accept(token: string, network: string): Promise<Grant | undefined>;
}

/** Returns credentials that never change. */
export function fixedCredentials(tokens: ReadonlyMap<string, Credential>): Credentials {
  // Looked up by digest, so that the duration reveals nothing about how much of a token is right.
  const credentials = new Map(
    [...tokens].map(([token, credential]) => [tokenDigest(token), credential]),
  );
  return {
    accept: (token) => {
      const credential = credentials.get(tokenDigest(token));
      return Promise.resolve(credential && (() => credential));
    },
  };
}

/** Returns the SHA-256 of a token in lowercase hexadecimal, the form in which tokens are stored. */
export function tokenDigest(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** How many characters of a digest name a token. */
const idLength = 12;
/** The length of a token from which on nobody can find it by the digests of guesses. */
const minIdentifiedLength = 32;

/** Whether a token is so short that somebody could guess one like it. Tokens that Reeve issues, and signed tokens, are longer. */
export function isGuessable(token: string): boolean {
  return token.length < minIdentifiedLength;
}

/**
 * Returns the first 12 hexadecimal digits of a token's SHA-256, with which logs may name the token. Returns "" for a token with
 * fewer than 32 characters, which somebody could guess.
 */
export function tokenId(token: string): string {
  return isGuessable(token) ? "" : tokenDigest(token).slice(0, idLength);
}

/** Returns the bearer token of a request, or undefined if it has none. */
export function bearerTokenOf(header: Headers): string | undefined {
  return /^bearer\s+(\S+)$/i.exec(header.get("authorization") ?? "")?.[1];
}
