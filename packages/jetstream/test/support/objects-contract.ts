import { describe, expect, test } from "vitest";
import type { Objects } from "../../src/objects/port.ts";
import { chunks, maxBytes, textOf } from "./artifact-contract.ts";

const never = new AbortController().signal;

async function* broken(): AsyncIterable<Uint8Array> {
  yield* chunks("half");
  throw new Error("source failed");
}

/** The contract of every object store. */
export function objectsContract(name: string, open: () => Objects): void {
  describe(`${name}: an object store`, () => {
    test("returns a written object, and lists it with its size", async () => {
      const objects = open();
      expect(await objects.write("acme/w/1", chunks("hello ", "world"), never)).toBe(11);
      const content = await objects.read("acme/w/1", never);
      expect(content && (await textOf(content))).toBe("hello world");
      const listed = await objects.list(never);
      expect(listed).toContainEqual(expect.objectContaining({ name: "acme/w/1", sizeBytes: 11 }));
    });

    test("leaves nothing of a removed object, and accepts its name again", async () => {
      const objects = open();
      await objects.write("acme/w/2", chunks("a"), never);
      await objects.remove("acme/w/2", never);
      await objects.remove("acme/w/2", never);
      expect(await objects.read("acme/w/2", never)).toBeUndefined();
      const names = (await objects.list(never)).map((object) => object.name);
      expect(names).not.toContain("acme/w/2");
      expect(await objects.write("acme/w/2", chunks("b"), never)).toBe(1);
    });

    test("does not write a name twice", async () => {
      const objects = open();
      await objects.write("acme/w/3", chunks("a"), never);
      await expect(objects.write("acme/w/3", chunks("b"), never)).rejects.toMatchObject({
        kind: "unavailable",
      });
    });

    test("stores nothing when the source fails or is too large", async () => {
      const objects = open();
      await expect(objects.write("acme/w/4", broken(), never)).rejects.toThrow("source failed");
      const large = chunks("x".repeat(maxBytes), "x");
      await expect(objects.write("acme/w/4", large, never)).rejects.toMatchObject({
        kind: "exhausted",
      });
      expect(await objects.read("acme/w/4", never)).toBeUndefined();
    });
  });
}
