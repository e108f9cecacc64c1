import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Objects } from "../../src/objects/port.ts";
import { chunks, maxBytes, textOf } from "./artifact-contract.ts";

const never = new AbortController().signal;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

async function* broken(): AsyncIterable<Uint8Array> {
  yield* chunks("half");
  throw new Error("source failed");
}

/** The contract of every object store. */
export function objectsContract(name: string, open: () => Objects): void {
  describe(`${name}: an object store`, () => {
    test("returns a written object, and lists it with its size", async () => {
      const objects = open();
      const { name, sizeBytes } = await objects.write("acme/w1", chunks("hello ", "world"), never);
      expect([name, sizeBytes]).toEqual([`acme/w1/${sha256("hello world")}`, 11]);
      const content = await objects.read(name, never);
      expect(content && (await textOf(content))).toBe("hello world");
      const listed = await objects.list(never);
      expect(listed).toContainEqual(expect.objectContaining({ name, sizeBytes: 11 }));
    });

    test("returns large and empty objects as they were written", async () => {
      const objects = open();
      const large = Array.from({ length: 7 }, (_, at) => `${at}`.repeat(100_000));
      for (const parts of [large, [], [""]]) {
        const { name } = await objects.write("acme/w5", chunks(...parts), never);
        expect(name).toBe(`acme/w5/${sha256(parts.join(""))}`);
        const content = await objects.read(name, never);
        expect((content && (await textOf(content))) === parts.join("")).toBe(true);
      }
    });

    test("leaves nothing of a removed object, and stores its content again", async () => {
      const objects = open();
      const { name } = await objects.write("acme/w2", chunks("a"), never);
      await objects.remove(name, never);
      await objects.remove(name, never);
      expect(await objects.read(name, never)).toBeUndefined();
      expect((await objects.list(never)).map((object) => object.name)).not.toContain(name);
      expect(await objects.write("acme/w2", chunks("a"), never)).toEqual({ name, sizeBytes: 1 });
      expect(await objects.read(name, never)).toBeDefined();
    });

    test("stores equal content once per folder, also for concurrent writers", async () => {
      const objects = open();
      const writes = ["w3", "w3", "w3", "other"].map((folder) =>
        objects.write(`acme/${folder}`, chunks("same"), never),
      );
      await Promise.all(writes);
      await objects.write("acme/w3", chunks("same"), never);
      const names = (await objects.list(never)).map(({ name }) => name);
      const digest = sha256("same");
      const stored = names.filter((name) => name.endsWith(digest)).toSorted();
      expect(stored).toEqual([`acme/other/${digest}`, `acme/w3/${digest}`]);
      const content = await objects.read(`acme/w3/${digest}`, never);
      expect(content && (await textOf(content))).toBe("same");
    });

    test("keeps an object whose content was stored again after it was listed", async () => {
      const objects = open();
      const { name } = await objects.write("acme/w6", chunks("kept"), never);
      const find = async () => (await objects.list(never)).find((object) => object.name === name);
      const listed = await find();
      if (listed === undefined) throw new Error("the object is not listed");
      await expect
        .poll(async () => {
          await objects.write("acme/w6", chunks("kept"), never);
          return (await find())?.storedAt.getTime();
        })
        .toBeGreaterThan(listed.storedAt.getTime());
      expect(await objects.removeUnchanged(listed, never)).toBe(false);
      expect(await objects.read(name, never)).toBeDefined();
      const again = await find();
      expect(again && (await objects.removeUnchanged(again, never))).toBe(true);
      expect(await objects.read(name, never)).toBeUndefined();
      expect(await find()).toBeUndefined();
      await objects.write("acme/w6", chunks("kept"), never);
      expect(await objects.read(name, never)).toBeDefined();
    });

    test("stores nothing when the source fails or is too large", async () => {
      const objects = open();
      await expect(objects.write("acme/w4", broken(), never)).rejects.toThrow("source failed");
      const large = chunks("x".repeat(maxBytes), "x");
      await expect(objects.write("acme/w4", large, never)).rejects.toMatchObject({
        kind: "exhausted",
      });
      const names = (await objects.list(never)).map(({ name }) => name);
      expect(names.filter((name) => name.startsWith("acme/w4/"))).toEqual([]);
    });
  });
}
