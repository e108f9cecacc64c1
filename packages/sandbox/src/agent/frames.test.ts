import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FrameReader, frameOf, toAgent } from "./frames.ts";

const kinds = Object.values(toAgent);

test("messages are decoded as they were encoded, however their bytes are split", () => {
  const message = fc.tuple(fc.constantFrom(...kinds), fc.uint8Array({ maxLength: 40 }));
  fc.assert(
    fc.property(fc.array(message), fc.array(fc.integer({ min: 1, max: 12 })), (messages, cuts) => {
      let rest = Buffer.concat(messages.map(([kind, content]) => frameOf(kind, content)));
      const reader = new FrameReader();
      const read = [];
      for (const cut of [...cuts, rest.length]) {
        read.push(...reader.read(rest.subarray(0, cut)));
        rest = rest.subarray(cut);
      }
      expect(read.map(({ kind, content }) => [kind, [...content]])).toEqual(
        messages.map(([kind, content]) => [kind, [...content]]),
      );
    }),
  );
});

test("an oversized message is refused at its header", () => {
  const endless = Buffer.from([255, 255, 255, 255, 88]);
  expect(() => [...new FrameReader().read(endless)]).toThrow("a message of 4294967295 bytes");
});
