import { readFileSync } from "node:fs";
import type { Authenticator } from "@nats-io/transport-node";
import { credsAuthenticator } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";

/** The setting that names the file. */
export const credsSetting = "REEVE_NATS_CREDS_FILE";

const jwt = /-----BEGIN NATS USER JWT-----\s+[\w-]+\.[\w-]+\.[\w-]+\s/;
const seed = /-----BEGIN USER NKEY SEED-----\s+SU[A-Z2-7]{56}\s/;

/**
 * Authenticates with the JWT and the seed in a credentials file of NATS. The file is read at each connection, so a file that is
 * replaced is used from the next connection on. While it cannot be used, the last content stays in use. Throws a Failure if it
 * cannot be used now.
 */
export function authenticatorOf(path: string): Authenticator {
  let last = read(path);
  return credsAuthenticator(() => {
    try {
      last = read(path);
    } catch {
      // The server decides whether the last content is still valid.
    }
    return last;
  });
}

function read(path: string): Uint8Array {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw invalid(path, "cannot be read", cause);
  }
  // The content is secret, so the message says only what is missing.
  if (!jwt.test(text)) throw invalid(path, "has no JWT of a user of NATS");
  if (!seed.test(text)) throw invalid(path, "has no seed of a user of NATS");
  return Buffer.from(text);
}

function invalid(path: string, problem: string, cause?: unknown): Failure {
  const message = `${credsSetting}: ${path} ${problem}; use a file that \`reeve nats-accounts\` or nsc has written`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
}
