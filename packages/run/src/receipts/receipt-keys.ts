import type { KeyObject } from "node:crypto";
import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** A public key of Ed25519 that verifies receipts. */
export interface VerifyingKey {
  /** SHA-256 over the key in DER, in hexadecimal. */
  readonly keyId: string;
  readonly publicKey: KeyObject;
}

/** The key of Ed25519 that signs receipts. */
export interface SigningKey extends VerifyingKey {
  readonly privateKey: KeyObject;
}

const block = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;
const maxKeys = 100;

/** Parses a private key in PEM (PKCS #8). Throws a Failure about `name` if it is none, or not of Ed25519. */
export function parseSigningKey(pem: string | Buffer, name: string): SigningKey {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch (cause) {
    throw unusable(
      `${name} has no private key in PEM format without a passphrase; generate one with \`openssl genpkey -algorithm ed25519\``,
      cause,
    );
  }
  return { ...verifyingKey(createPublicKey(privateKey), name), privateKey };
}

/** Parses one or more public keys in PEM. Throws a Failure about `name` if there is none, or one is not of Ed25519. */
export function parseVerifyingKeys(pem: string, name: string): readonly VerifyingKey[] {
  const blocks = pem.match(block) ?? [];
  if (blocks.length === 0) {
    throw unusable(
      `${name} has no public key in PEM format; start it with -----BEGIN PUBLIC KEY-----`,
    );
  }
  if (blocks.length > maxKeys) {
    throw unusable(`${name} has ${blocks.length} public keys; keep at most ${maxKeys}`);
  }
  return blocks.map((each) => {
    let key: KeyObject;
    try {
      key = createPublicKey(each);
    } catch (cause) {
      throw unusable(`${name} has a public key that cannot be read`, cause);
    }
    return verifyingKey(key, name);
  });
}

/** Returns a public key in PEM. */
export function publicKeyPem({ publicKey }: VerifyingKey): string {
  return publicKey.export({ type: "spki", format: "pem" }).toString();
}

function verifyingKey(publicKey: KeyObject, name: string): VerifyingKey {
  const type = publicKey.asymmetricKeyType;
  if (type !== "ed25519") {
    throw unusable(
      `${name} has a key of type ${type ?? "unknown"}; receipts need one of type ed25519`,
    );
  }
  const der = publicKey.export({ type: "spki", format: "der" });
  return { keyId: createHash("sha256").update(der).digest("hex"), publicKey };
}

function unusable(message: string, cause?: unknown): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
}
