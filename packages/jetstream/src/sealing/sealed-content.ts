import { hkdfSync, randomBytes } from "node:crypto";
import { decryptAt, encryptAt, keyBytes } from "./aes-gcm.ts";
import type { PayloadCipher, Place } from "./payload-cipher.ts";

/** The first bytes of sealed content, with the version of the format. Whether content is sealed is stored beside it. */
const prefix = Buffer.from([0, 0x52, 0x43, 1]);
const saltBytes = 32;
const tagBytes = 16;
/** How much is encrypted at a time. */
export const segmentBytes = 64 * 1024;

/**
 * Yields content, sealed for a place in segments of 64 KiB. Each content has a key of its own, derived from the tenant's data key and a random
 * salt. A nonce is the number of the segment, and whether it is the last one, so segments cannot be moved, left out, or cut off.
 */
export async function* sealContent(
  cipher: PayloadCipher,
  place: Place,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const dataKey = await cipher.key(place.tenant, undefined, signal);
  const id = Buffer.from(dataKey.id, "latin1");
  const salt = randomBytes(saltBytes);
  const head = Buffer.concat([prefix, Buffer.from([id.length]), id, salt]);
  const key = contentKey(dataKey.bytes, salt, place);
  yield head;
  let number = 0;
  let last: Uint8Array = new Uint8Array();
  for await (const segment of inSegments(content, segmentBytes)) {
    // The one before: only the next one shows that it is not the last.
    if (number > 0) yield encryptAt(key, nonceOf(number, false), head, last);
    last = segment;
    number++;
  }
  yield encryptAt(key, nonceOf(Math.max(number, 1), true), head, last);
}

/** Yields the content that was sealed for a place. Throws a Failure of kind `data_loss` if it was altered, moved, or cut off. */
export async function* openContent(
  cipher: PayloadCipher,
  place: Place,
  sealed: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  await using reader = new ByteReader(sealed);
  const start = await reader.take(prefix.length + 1);
  if (!prefix.equals(start.subarray(0, prefix.length))) throw cipher.altered(place);
  const id = await reader.take(start[prefix.length] ?? 0);
  const salt = await reader.take(saltBytes);
  const head = Buffer.concat([start, id, salt]);
  const dataKey = await cipher.key(place.tenant, id.toString("latin1"), signal);
  const key = contentKey(dataKey.bytes, salt, place);
  for (let number = 1; ; number++) {
    const segment = await reader.take(segmentBytes + tagBytes);
    const isLast = await reader.isAtEnd();
    const opened = decryptAt(key, nonceOf(number, isLast), head, segment);
    if (opened === undefined) throw cipher.altered(place);
    if (opened.length > 0) yield opened;
    if (isLast) return;
  }
}

/**
 * Yields content that may be sealed. Content of an archive does not begin like sealed content by chance, and one that does so on
 * purpose is an error for its reader only.
 */
export async function* openIfSealed(
  cipher: PayloadCipher,
  place: Place,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  await using reader = new ByteReader(content);
  const isSealed = prefix.equals(await reader.peek(prefix.length));
  yield* isSealed ? openContent(cipher, place, reader.rest(), signal) : reader.rest();
}

function contentKey(key: Uint8Array, salt: Uint8Array, { tenant, name }: Place): Uint8Array {
  return new Uint8Array(
    hkdfSync("sha256", key, salt, `reeve-content\0${tenant}\0${name}`, keyBytes),
  );
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(number, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/** Yields the same bytes in segments of `size`, of which only the last may be shorter. Yields nothing for no bytes. */
async function* inSegments(
  content: AsyncIterable<Uint8Array>,
  size: number,
): AsyncIterable<Uint8Array> {
  await using reader = new ByteReader(content);
  while (!(await reader.isAtEnd())) yield await reader.take(size);
}

/** Reads a number of bytes at a time. */
class ByteReader implements AsyncDisposable {
  readonly #source: AsyncIterator<Uint8Array>;
  #pending: Uint8Array[] = [];
  #bytes = 0;
  #isDone = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns `size` bytes, or as many as are left. */
  async take(size: number): Promise<Buffer> {
    await this.#fill(size);
    const parts: Uint8Array[] = [];
    // Copies nothing but what it returns: all content may arrive in one piece.
    for (let left = Math.min(size, this.#bytes); left > 0;) {
      const [first = new Uint8Array()] = this.#pending;
      const part = first.subarray(0, left);
      parts.push(part);
      if (part.length < first.length) this.#pending[0] = first.subarray(left);
      else this.#pending.shift();
      left -= part.length;
      this.#bytes -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Returns the first `size` bytes, or as many as there are, which stay. */
  async peek(size: number): Promise<Buffer> {
    await this.#fill(size);
    return Buffer.concat(this.#pending).subarray(0, size);
  }

  /** Yields what is left, in the pieces in which it arrives. */
  async *rest(): AsyncIterable<Uint8Array> {
    while (!(await this.isAtEnd())) {
      const [next = new Uint8Array()] = this.#pending.splice(0, 1);
      this.#bytes -= next.length;
      yield next;
    }
  }

  async isAtEnd(): Promise<boolean> {
    await this.#fill(1);
    return this.#bytes === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isDone) await this.#source.return?.();
  }

  async #fill(size: number): Promise<void> {
    while (this.#bytes < size && !this.#isDone) {
      this.#isDone = true;
      const next = await this.#source.next();
      if (next.done !== true) {
        this.#isDone = false;
        this.#pending.push(next.value);
        this.#bytes += next.value.length;
      }
    }
  }
}
