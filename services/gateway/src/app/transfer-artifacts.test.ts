import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Artifact } from "@reeve/contracts/artifact";
import {
  ArtifactSchema,
  ListArtifactsRequestSchema,
  UploadArtifactRequestSchema,
} from "@reeve/contracts/artifact";
import { ErrorReason } from "@reeve/contracts/error";
import { skillMediaType } from "@reeve/agent/skills/skill";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { describe, expect, test } from "vitest";
import { downloadArtifact, listArtifacts, uploadArtifact } from "./transfer-artifacts.ts";

const never = new AbortController().signal;
const header = { case: "header", value: { name: "a.txt", mediaType: "text/plain" } } as const;
const chunk = (text: string) => ({ case: "chunk", value: Buffer.from(text) }) as const;

type Part = NonNullable<MessageInitShape<typeof UploadArtifactRequestSchema>["part"]>;

async function* requests(...parts: readonly Part[]) {
  for (const part of parts) yield create(UploadArtifactRequestSchema, { part });
}

async function* cut() {
  yield* requests(header, chunk("half"));
  throw new Error("the client disconnected");
}

async function* chunks() {
  yield Buffer.from("files");
}

const emptyStore = () => new MemoryArtifactStore({ maxBytes: 1_000_000 });

const storeOf = (artifacts: readonly Artifact[]) =>
  Object.assign(emptyStore(), { list: () => Promise.resolve(artifacts) });

const ann = { tenant: "acme", subject: "ann" };

const portsOf = (artifacts: ArtifactStore) => ({
  artifacts,
  artifactQuotas: { store: unlimited },
});

function unlimited(
  _: unknown,
  content: AsyncIterable<Uint8Array>,
  put: (content: AsyncIterable<Uint8Array>) => Promise<Artifact>,
): Promise<Artifact> {
  return put(content);
}

async function listed(store: ArtifactStore, request = {}, tenant = "acme") {
  const wanted = create(ListArtifactsRequestSchema, request);
  const { items, nextPageToken } = await listArtifacts(store, tenant, wanted, never);
  return { ids: items.map(({ artifactId }) => artifactId), nextPageToken };
}

async function downloaded(store: ArtifactStore, artifactId: string, tenant = "acme") {
  const parts: Buffer[] = [];
  const names: string[] = [];
  for await (const { part } of downloadArtifact(store, tenant, artifactId, never)) {
    if (part.case === "artifact") names.push(part.value.name);
    if (part.case === "chunk") parts.push(Buffer.from(part.value));
  }
  return { names, sizes: parts.map(({ length }) => length), bytes: Buffer.concat(parts) };
}

describe("an upload", () => {
  test("is downloaded completely, in chunks that every client accepts", async () => {
    const store = emptyStore();
    const text = "0123456789".repeat(60_000);
    const parts = [header, chunk(text.slice(0, 7)), chunk(""), chunk(text.slice(7))];
    const artifact = await uploadArtifact(portsOf(store), ann, requests(...parts), never);
    const { names, sizes, bytes } = await downloaded(store, artifact.artifactId);
    expect(names).toEqual(["a.txt"]);
    expect(Math.max(...sizes)).toBe(256 * 1024);
    expect(bytes.toString()).toBe(text);
  });

  test.each<[string, readonly Part[]]>([
    ["is empty", []],
    ["begins with bytes", [chunk("a")]],
    ["has two headers", [header, chunk("a"), header]],
    ["has a part that says nothing", [header, { case: undefined }]],
  ])("that %s is refused, and leaves nothing", async (_, parts) => {
    const store = emptyStore();
    await expect(
      uploadArtifact(portsOf(store), ann, requests(...parts), never),
    ).rejects.toMatchObject({
      kind: "invalid",
      reason: ErrorReason.INVALID_REQUEST,
    });
    expect((await listed(store)).ids).toEqual([]);
  });

  test("that is interrupted leaves nothing", async () => {
    const store = emptyStore();
    await expect(uploadArtifact(portsOf(store), ann, cut(), never)).rejects.toThrow(
      "the client disconnected",
    );
    expect((await listed(store)).ids).toEqual([]);
  });
});

describe("the list of artifacts", () => {
  test("has pages with each artifact once", async () => {
    const store = emptyStore();
    for (let count = 0; count < 7; count++) {
      await uploadArtifact(portsOf(store), ann, requests(header, chunk(`${count}`)), never);
    }
    const all = (await listed(store)).ids;
    const seen: string[] = [];
    let page = await listed(store, { pageSize: 3 });
    seen.push(...page.ids);
    while (page.nextPageToken !== "") {
      page = await listed(store, { pageSize: 3, pageToken: page.nextPageToken });
      seen.push(...page.ids);
    }
    expect(seen).toEqual(all);
    expect(seen).toHaveLength(7);
  });

  // Requirement: CFG-17
  test("has no skills that runtimes have stored, and all files of clients", async () => {
    const store = emptyStore();
    const draft = { name: "maps.skill", mediaType: skillMediaType, runId: "" };
    await store.put("acme", draft, chunks(), never);
    const own = {
      case: "header",
      value: { name: "maps.skill", mediaType: skillMediaType },
    } as const;
    const { artifactId } = await uploadArtifact(portsOf(store), ann, requests(own), never);
    expect((await listed(store)).ids).toEqual([artifactId]);
  });

  test("continues after the last one of the previous page, even if that one was deleted", async () => {
    const all = ["c", "a", "b"].map((letter, index) =>
      create(ArtifactSchema, {
        artifactId: `art_${letter.repeat(32)}`,
        createdAt: { seconds: BigInt(index), nanos: 0 },
      }),
    );
    const { nextPageToken } = await listed(storeOf(all), { pageSize: 2 });
    const rest = await listed(storeOf(all.toSpliced(1, 1)), { pageToken: nextPageToken });
    expect(rest.ids).toEqual([all[2]?.artifactId]);
  });
});

test.each(["art_0123456789abcdef0123456789abcdef", "*", ">", "../x", "a.b", " ", "\0"])(
  "artifact %j is not found",
  async (artifactId) => {
    await expect(downloaded(emptyStore(), artifactId)).rejects.toMatchObject({
      kind: "not_found",
      reason: ErrorReason.ARTIFACT_NOT_FOUND,
      metadata: { artifact_id: artifactId },
    });
  },
);

test("an artifact of another tenant is not found", async () => {
  const store = emptyStore();
  const { artifactId } = await uploadArtifact(portsOf(store), ann, requests(header), never);
  await expect(downloaded(store, artifactId, "globex")).rejects.toMatchObject({
    kind: "not_found",
  });
});
