import { createHash } from "node:crypto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import { describe, expect, test } from "vitest";
import type { ArtifactDraft, ArtifactStore } from "../../src/objects/artifact-store.ts";

const never = new AbortController().signal;
let tenants = 0;

/** The largest file of the stores under test. */
export const maxBytes = 4_000_000;

const freshTenant = (): string => `tenant-${++tenants}`;

export function draft(name: string, idempotencyKey?: string): ArtifactDraft {
  const known = { name, mediaType: "text/plain", runId: "run_1" };
  return idempotencyKey === undefined ? known : { ...known, idempotencyKey };
}

export async function* chunks(...texts: readonly string[]): AsyncIterable<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

async function bytesOf(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts);
}

export const textOf = async (content: AsyncIterable<Uint8Array>): Promise<string> =>
  (await bytesOf(content)).toString();

const sha256 = (bytes: string | Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex");

async function* broken(): AsyncIterable<Uint8Array> {
  yield* chunks("half");
  throw new Error("the client is gone");
}

/** The contract of every artifact store. */
export function artifactContract(name: string, open: () => ArtifactStore): void {
  describe(`${name}: an artifact store`, () => {
    test.each([".", "..", "a/b", "a\\b", "\u009b31m", "\u202egnp.exe", "a\nb", "a\u2066b"])(
      "refuses the name %j",
      async (file) => {
        const stored = open().put(freshTenant(), draft(file), chunks("a"), never);
        await expect(stored).rejects.toMatchObject({
          kind: "invalid",
          violations: [{ field: "header.name" }],
        });
      },
    );

    test.each(["text/html\r\nX: y", "text", "text/\u0000"])(
      "refuses the media type %j",
      async (mediaType) => {
        const typed = { ...draft("a"), mediaType };
        const stored = open().put(freshTenant(), typed, chunks("a"), never);
        await expect(stored).rejects.toMatchObject({
          kind: "invalid",
          violations: [{ field: "header.media_type" }],
        });
      },
    );

    test("returns a file and its description", async () => {
      const [store, tenant] = [open(), freshTenant()];
      const artifact = await store.put(tenant, draft("a.txt"), chunks("hello ", "world"), never);
      expect(artifact).toMatchObject({
        name: "a.txt",
        mediaType: "text/plain",
        runId: "run_1",
        sizeBytes: 11,
        sha256: sha256("hello world"),
      });
      expect(artifact.artifactId).toMatch(/^art_[0-9a-f]{32}$/);
      expect(artifact.createdAt?.seconds).toBeGreaterThan(0n);
      expect(await store.get(tenant, artifact.artifactId, never)).toEqual(artifact);
      expect(await textOf(store.read(tenant, artifact.artifactId, never))).toBe("hello world");
    });

    test("stores an empty file of unknown type", async () => {
      const [store, tenant] = [open(), freshTenant()];
      const nothing = { name: "empty", mediaType: "", runId: "" };
      const artifact = await store.put(tenant, nothing, chunks(), never);
      expect(artifact).toMatchObject({
        sizeBytes: 0,
        sha256: sha256(""),
        mediaType: "application/octet-stream",
      });
      expect(await textOf(store.read(tenant, artifact.artifactId, never))).toBe("");
    });

    test("stores a file up to the limit, in chunks of any size", async () => {
      const [store, tenant] = [open(), freshTenant()];
      const whole = Buffer.alloc(maxBytes, "0123456789abcdef-");
      async function* pieces() {
        for (let from = 0, size = 1; from < whole.length; from += size, size = size * 3 + 7) {
          yield await Promise.resolve(whole.subarray(from, from + size));
        }
      }
      const { artifactId, ...known } = await store.put(tenant, draft("big"), pieces(), never);
      expect(known).toMatchObject({ sizeBytes: maxBytes, sha256: sha256(whole) });
      expect((await bytesOf(store.read(tenant, artifactId, never))).equals(whole)).toBe(true);
    });

    test("rejects a larger file, and stores nothing of it", async () => {
      const [store, tenant] = [open(), freshTenant()];
      const half = "x".repeat(maxBytes / 2);
      const tooMuch = store.put(tenant, draft("big", "key"), chunks(half, half, "x"), never);
      await expect(tooMuch).rejects.toMatchObject({
        kind: "exhausted",
        reason: ErrorReason.TOO_LARGE,
      });
      expect(await store.list(tenant, never)).toEqual([]);
      const small = await store.put(tenant, draft("small", "key"), chunks("fits"), never);
      expect(await textOf(store.read(tenant, small.artifactId, never))).toBe("fits");
    });

    test("rethrows what its source throws, and stores nothing", async () => {
      const [store, tenant] = [open(), freshTenant()];
      await expect(store.put(tenant, draft("a"), broken(), never)).rejects.toThrow(
        "the client is gone",
      );
      expect(await store.list(tenant, never)).toEqual([]);
    });

    test("stops waiting for a source that yields nothing when its signal aborts", async () => {
      const [store, tenant] = [open(), freshTenant()];
      const stop = new AbortController();
      async function* silent() {
        yield* chunks("half");
        stop.abort(new Error("enough"));
        await new Promise(() => undefined);
      }
      await expect(store.put(tenant, draft("a"), silent(), stop.signal)).rejects.toThrow("enough");
      expect(await store.list(tenant, never)).toEqual([]);
    });

    test("stores a key once, and changes nothing the second time", async () => {
      const [store, tenant] = [open(), freshTenant()];
      const first = await store.put(tenant, draft("a", "key"), chunks("first"), never);
      const again = await store.put(tenant, draft("b", "key"), chunks("second"), never);
      expect(again).toEqual(first);
      expect(await textOf(store.read(tenant, first.artifactId, never))).toBe("first");
      expect(await store.list(tenant, never)).toEqual([first]);
      const other = await store.put(freshTenant(), draft("a", "key"), chunks("first"), never);
      expect(other.artifactId).not.toBe(first.artifactId);
    });

    test("returns the same complete file to all concurrent writers of a key", async () => {
      const [store, tenant] = [open(), freshTenant()];
      const texts = ["one", "two", "three", "four"];
      const stored = await Promise.all(
        texts.map((text) => store.put(tenant, draft(text, "key"), chunks(text), never)),
      );
      const [first] = stored;
      expect(stored).toEqual(texts.map(() => first));
      const read = await textOf(store.read(tenant, first?.artifactId ?? "", never));
      expect([read, sha256(read)]).toEqual([first?.name, first?.sha256]);
    });

    test("gives files without a key different ids", async () => {
      const [store, tenant] = [open(), freshTenant()];
      const first = await store.put(tenant, draft("a"), chunks("same"), never);
      const second = await store.put(tenant, draft("a"), chunks("same"), never);
      expect(second.artifactId).not.toBe(first.artifactId);
    });

    test("lists the files of a tenant, oldest first", async () => {
      const [store, tenant] = [open(), freshTenant()];
      const stored = [];
      for (const text of ["c", "a", "b"]) {
        stored.push(await store.put(tenant, draft(text), chunks(text), never));
      }
      await store.put(`${tenant}x`, draft("d"), chunks("d"), never);
      const listed = await store.list(tenant, never);
      const times = listed.map(({ createdAt }) => createdAt && timestampMs(createdAt));
      expect(times).toEqual(stored.map(({ createdAt }) => createdAt && timestampMs(createdAt)));
      expect(new Set(listed)).toEqual(new Set(stored));
    });

    test("deletes a file, once, and only that of the tenant", async () => {
      const [store, tenant] = [open(), freshTenant()];
      const [gone, kept] = [
        await store.put(tenant, draft("a", "key"), chunks("a"), never),
        await store.put(tenant, draft("b"), chunks("b"), never),
      ];
      const { artifactId } = gone;
      expect(await store.delete("other", artifactId, never)).toBe(false);
      expect(await store.delete(tenant, "../a.b c", never)).toBe(false);
      expect(await store.delete(tenant, artifactId, never)).toBe(true);
      expect(await store.delete(tenant, artifactId, never)).toBe(false);
      expect(await store.get(tenant, artifactId, never)).toBeUndefined();
      await expect(textOf(store.read(tenant, artifactId, never))).rejects.toMatchObject({
        reason: ErrorReason.ARTIFACT_NOT_FOUND,
      });
      expect(await store.list(tenant, never)).toEqual([kept]);
      const again = await store.put(tenant, draft("a", "key"), chunks("anew"), never);
      expect(await textOf(store.read(tenant, again.artifactId, never))).toBe("anew");
    });

    test("has no file of another tenant, and none with an invalid id", async () => {
      const [store, tenant] = [open(), freshTenant()];
      const { artifactId } = await store.put(tenant, draft("a"), chunks("secret"), never);
      for (const [who, id] of [
        ["other", artifactId],
        [tenant, "art_0"],
        [tenant, "*"],
        [tenant, "../a.b c"],
      ] as const) {
        expect(await store.get(who, id, never)).toBeUndefined();
        await expect(textOf(store.read(who, id, never))).rejects.toMatchObject({
          kind: "not_found",
          reason: ErrorReason.ARTIFACT_NOT_FOUND,
        });
      }
    });

    test("lets a reader stop in the middle of a file", async () => {
      const [store, tenant] = [open(), freshTenant()];
      const big = "y".repeat(1_000_000);
      const { artifactId } = await store.put(tenant, draft("a"), chunks(big), never);
      for await (const chunk of store.read(tenant, artifactId, never)) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }
      expect((await textOf(store.read(tenant, artifactId, never))).length).toBe(big.length);
    });
  });
}
