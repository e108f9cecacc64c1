import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { serverSentEvents } from "./server-sent-events.ts";

async function eventsOf(pieces: readonly Uint8Array[]) {
  const bytes = async function* () {
    yield* pieces;
  };
  return (await Array.fromAsync(serverSentEvents(bytes()))).flat();
}

const encode = (text: string) => new TextEncoder().encode(text);

function splitAt(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted(
    (one, other) => one - other,
  );
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

describe("server-sent events", () => {
  test("are the same wherever their bytes are split", async () => {
    const line = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n]/.test(text));
    const cuts = fc.array(fc.nat(), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 5 }), cuts, async (texts, cuts) => {
        const bytes = encode(texts.map((text) => `data: ${text}\n\n`).join(""));
        const events = await eventsOf(splitAt(bytes, cuts));
        expect(events.map(({ data }) => data)).toEqual(texts);
      }),
    );
  });

  test("may have names, comments, carriage returns and several lines", async () => {
    const text = ": hello\r\n\r\nevent: error\r\ndata:one\r\ndata: two\r\nid: 4\r\n\r\ndata\n\n";
    expect(await eventsOf([encode(text)])).toEqual([
      { name: "error", data: "one\ntwo", isCut: false },
      { name: "", data: "", isCut: false },
    ]);
  });

  test("are marked when the end cuts them", async () => {
    expect(await eventsOf([encode('data: 1\n\ndata: {"a')])).toEqual([
      { name: "", data: "1", isCut: false },
      { name: "", data: '{"a', isCut: true },
    ]);
    expect(await eventsOf([encode("data: 1\n")])).toEqual([{ name: "", data: "1", isCut: true }]);
  });

  test("are limited in size", async () => {
    const endless = Array.from({ length: 65 }, () => new Uint8Array(2 ** 20).fill(0x61));
    await expect(eventsOf(endless)).rejects.toMatchObject({ reason: "malformed" });
  });
});
