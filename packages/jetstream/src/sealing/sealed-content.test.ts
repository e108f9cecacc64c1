import { randomBytes } from "node:crypto";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { describe, expect, test } from "vitest";
import { payloadCipher } from "./payload-cipher.ts";
import { openContent, openIfSealed, sealContent, segmentBytes } from "./sealed-content.ts";

const never = new AbortController().signal;
const bytes = randomBytes(32);
const key = (_: string, id = "p1") => Promise.resolve({ id, bytes });
const log = createLogger("test", "silent");
const cipher = payloadCipher(
  { current: (tenant) => key(tenant), byId: (tenant, id) => key(tenant, id) },
  log,
);
const place = { tenant: "acme", name: "bucket/a" };

async function* inPieces(content: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < content.length; at += size) {
    yield await Promise.resolve(content.subarray(at, at + size));
  }
}

async function whole(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(content));
}

const sealed = (content: Uint8Array, size = 10_000) =>
  whole(sealContent(cipher, place, inPieces(content, size), never));
const opened = (content: Uint8Array, at = place, size = 7_777) =>
  whole(openContent(cipher, at, inPieces(content, size), never));

const read = (stored: Uint8Array) => whole(openIfSealed(cipher, place, inPieces(stored, 3), never));

test.each([0, 1, segmentBytes - 1, segmentBytes, segmentBytes + 1, 3 * segmentBytes, 200_000])(
  "content of %i bytes is opened as it was, in pieces of any size",
  async (size) => {
    const content = randomBytes(size);
    for (const piece of [1_000, segmentBytes, 1_000_000]) {
      expect((await opened(await sealed(content, piece), place, piece)).equals(content)).toBe(true);
    }
  },
);

describe("sealed content", () => {
  const content = randomBytes(3 * segmentBytes);
  const refused = { kind: "data_loss" };

  test("is different each time, and has nothing of the content", async () => {
    const [one, two] = [await sealed(content), await sealed(content)];
    expect(one.equals(two)).toBe(false);
    expect(one.includes(content.subarray(0, 32))).toBe(false);
  });

  test("is refused at another place, of another tenant, and with another key", async () => {
    const stored = await sealed(content);
    await expect(opened(stored, { ...place, name: "bucket/b" })).rejects.toMatchObject(refused);
    await expect(opened(stored, { ...place, tenant: "globex" })).rejects.toMatchObject(refused);
    const other = { id: "p1", bytes: randomBytes(32) };
    const ofOther = () => Promise.resolve(other);
    const stranger = payloadCipher({ current: ofOther, byId: ofOther }, log);
    const opening = whole(openContent(stranger, place, inPieces(stored, 1_000), never));
    await expect(opening).rejects.toMatchObject(refused);
  });

  test("is refused when it was cut off, extended, reordered, or altered anywhere", async () => {
    const stored = await sealed(content);
    const segment = segmentBytes + 16;
    const head = stored.length - 3 * segment;
    const at = (number: number) =>
      stored.subarray(head + number * segment, head + (number + 1) * segment);
    const flipped = (index: number) => {
      const copy = Buffer.from(stored);
      copy[index] = (copy[index] ?? 0) ^ 1;
      return copy;
    };
    const start = stored.subarray(0, head);
    for (const altered of [
      stored.subarray(0, head + segment),
      stored.subarray(0, head + 2 * segment),
      stored.subarray(0, -1),
      start,
      Buffer.concat([stored, Buffer.alloc(1)]),
      Buffer.concat([start, at(1), at(0), at(2)]),
      Buffer.concat([start, at(0), at(0), at(1), at(2)]),
      ...[0, 8, 20, head + 5, stored.length - 1].map(flipped),
    ]) {
      await expect(opened(altered)).rejects.toMatchObject(refused);
    }
  });

  test("is told from content that was stored before there were keys", async () => {
    for (const plain of ["", "a", "plain content of a file"]) {
      expect((await read(Buffer.from(plain))).toString()).toBe(plain);
    }
    expect((await read(await sealed(Buffer.from("secret")))).toString()).toBe("secret");
  });
});
