import { randomBytes } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { RunBatchSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { keyIdOf, openMessage, sealMessage } from "./sealed-message.ts";

const key = { id: "p700", bytes: randomBytes(32) };
const data = Buffer.from("what a tenant stores");
const place = "acme\0run.acme.run_1.log";

test("a message opens with its key at its place, and nowhere else", () => {
  const sealed = sealMessage(key, place, data);
  expect(keyIdOf(sealed)).toBe("p700");
  expect(sealed.includes(data)).toBe(false);
  expect(Buffer.from(openMessage(key, place, sealed) ?? [])).toEqual(data);
  expect(openMessage(key, "acme\0run.acme.run_2.log", sealed)).toBeUndefined();
  expect(openMessage({ ...key, bytes: randomBytes(32) }, place, sealed)).toBeUndefined();
});

test("a message that was altered at any byte, or cut off, does not open", () => {
  const sealed = sealMessage(key, place, data);
  for (let at = 0; at < sealed.length; at++) {
    const altered = Buffer.from(sealed);
    altered[at] = (altered[at] ?? 0) ^ 1;
    const isAccepted = keyIdOf(altered) === key.id && openMessage(key, place, altered);
    expect(isAccepted || undefined).toBeUndefined();
    expect(openMessage(key, place, sealed.subarray(0, at))).toBeUndefined();
  }
});

test("equal messages are sealed differently", () => {
  expect(sealMessage(key, place, data).equals(sealMessage(key, place, data))).toBe(false);
});

test("no message of Protocol Buffers is taken for a sealed one", () => {
  expect(keyIdOf(new Uint8Array())).toBeUndefined();
  const batch = create(RunBatchSchema, { firstSequence: 1, salt: randomBytes(16) });
  expect(keyIdOf(toBinary(RunBatchSchema, batch))).toBeUndefined();
});
