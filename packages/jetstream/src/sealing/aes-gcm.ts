import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** AES-256-GCM with random nonces of 96 bits and full tags. */
const algorithm = "aes-256-gcm";
export const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** Returns nonce, ciphertext, and tag. `context` must be the same to decrypt it. */
export function encrypt(key: Uint8Array, context: Uint8Array, plaintext: Uint8Array): Buffer {
  return encryptAt(key, randomBytes(nonceBytes), context, plaintext, true);
}

/** Returns ciphertext and tag, with the nonce before them if `isSelfContained`. A key must never see a nonce twice. */
export function encryptAt(
  key: Uint8Array,
  nonce: Uint8Array,
  context: Uint8Array,
  plaintext: Uint8Array,
  isSelfContained = false,
): Buffer {
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(context);
  const parts = [cipher.update(plaintext), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(isSelfContained ? [nonce, ...parts] : parts);
}

/** Returns the plaintext of what `encrypt` returned. Undefined: the key or the context is another one, or the bytes were altered. */
export function decrypt(
  key: Uint8Array,
  context: Uint8Array,
  bytes: Uint8Array,
): Buffer | undefined {
  if (bytes.length < nonceBytes + tagBytes) return undefined;
  return decryptAt(key, bytes.subarray(0, nonceBytes), context, bytes.subarray(nonceBytes));
}

/** Returns the plaintext of what `encryptAt` returned without the nonce. */
export function decryptAt(
  key: Uint8Array,
  nonce: Uint8Array,
  context: Uint8Array,
  bytes: Uint8Array,
): Buffer | undefined {
  const end = bytes.length - tagBytes;
  if (end < 0) return undefined;
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(context);
  decipher.setAuthTag(bytes.subarray(end));
  const start = decipher.update(bytes.subarray(0, end));
  try {
    return Buffer.concat([start, decipher.final()]);
  } catch {
    return undefined;
  }
}
