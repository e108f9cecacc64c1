import { decrypt, encrypt } from "./aes-gcm.ts";

/** A key that encrypts payloads of one tenant. */
export interface DataKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * The first bytes of a sealed message: a zero, with which no message of Protocol Buffers begins, a mark, and the version of the
 * format. The length of the key's id follows, the id in ASCII, and nonce, ciphertext, and tag of AES-256-GCM.
 */
const prefix = Buffer.from([0, 0x52, 0x53, 1]);

/** Returns a message sealed for a place: it opens nowhere else. */
export function sealMessage(key: DataKey, place: string, data: Uint8Array): Buffer {
  const head = headOf(key.id);
  return Buffer.concat([head, encrypt(key.bytes, contextOf(head, place), data)]);
}

/** Returns the id of the key of a sealed message. Undefined: the message is not sealed. */
export function keyIdOf(data: Uint8Array): string | undefined {
  if (data.length <= prefix.length || !prefix.equals(data.subarray(0, prefix.length))) {
    return undefined;
  }
  const from = prefix.length + 1;
  return Buffer.from(data.subarray(from, from + (data[prefix.length] ?? 0))).toString("latin1");
}

/** Returns what was sealed. Undefined: the key or the place is another one, or the message was altered. */
export function openMessage(key: DataKey, place: string, data: Uint8Array): Uint8Array | undefined {
  const head = headOf(key.id);
  return decrypt(key.bytes, contextOf(head, place), data.subarray(head.length));
}

function headOf(keyId: string): Buffer {
  const id = Buffer.from(keyId, "latin1");
  return Buffer.concat([prefix, Buffer.from([id.length]), id]);
}

function contextOf(head: Buffer, place: string): Buffer {
  return Buffer.concat([head, Buffer.from(`\0${place}`)]);
}
