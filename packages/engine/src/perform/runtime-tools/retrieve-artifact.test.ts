import { create } from "@bufbuild/protobuf";
import { RunCreatedSchema } from "@reeve/contracts/run";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { describe, expect, test } from "vitest";
import type { RunState } from "../../domain/state/run-state.ts";
import { initialState } from "../../domain/state/run-state.ts";
import { retrieveArtifact } from "./retrieve-artifact.ts";
import { emptyHead } from "@reeve/run/head/run-head";

const never = new AbortController().signal;
const content = "0123456789".repeat(3_000);

async function* once(kept: string | Uint8Array): AsyncIterable<Uint8Array> {
  const bytes = Buffer.from(kept);
  yield bytes.subarray(0, 7);
  yield bytes.subarray(7);
}

/** Reads an artifact part by part as the notes say. Returns the texts, and the range of each part. */
async function readAll({ artifacts, artifactId, state }: StoredResult, limit?: number) {
  const texts: string[] = [];
  const ranges: string[] = [];
  for (let offset: string | undefined = "0"; offset !== undefined;) {
    const args = { artifact_id: artifactId, offset: Number(offset), ...(limit && { limit }) };
    const { content } = await retrieveArtifact(state, args, { artifacts }, never);
    const [text = "", note = ""] = content.split("\n[bytes ");
    texts.push(text);
    ranges.push(note.replace(/ of .*/, ""));
    offset = /read on with offset (\d+)/.exec(note)?.[1];
  }
  return { texts, ranges };
}

type StoredResult = Awaited<ReturnType<typeof storeResult>>;

/** Stores a result, by default of 30,000 bytes, and returns it with the state of a run. */
async function storeResult(runId = "run_mine", kept: string | Uint8Array = content) {
  const artifacts = new MemoryArtifactStore({ maxBytes: 100_000 });
  const draft = { name: "r.txt", mediaType: "text/plain", runId: "run_mine" };
  const { artifactId } = await artifacts.put("acme", draft, once(kept), never);
  const state: RunState = {
    ...initialState,
    head: { ...emptyHead, runId, created: create(RunCreatedSchema, { tenant: "acme" }) },
  };
  return { artifacts, artifactId, state };
}

describe("a stored result", () => {
  test("is read from its start up to the default limit, with the offset of the rest", async () => {
    const { artifacts, artifactId, state } = await storeResult();
    const read = await retrieveArtifact(state, { artifact_id: artifactId }, { artifacts }, never);
    expect(read.isError).toBe(false);
    expect(read.content).toBe(
      `${content.slice(0, 20_000)}\n[bytes 0 to 20000 of 30000; read on with offset 20000]`,
    );
  });

  test("is read in parts that form the complete result", async () => {
    const { artifacts, artifactId, state } = await storeResult();
    let whole = "";
    for (let offset = 0; offset < content.length; offset += 7_000) {
      const args = { artifact_id: artifactId, offset, limit: 7_000 };
      const read = await retrieveArtifact(state, args, { artifacts }, never);
      whole += read.content.split("\n[bytes")[0];
    }
    expect(whole).toBe(content);
  });

  test.each([undefined, 1_000, 2])("is never cut within a character: %s", async (limit) => {
    const text = "a漢😀é".repeat(limit === 2 ? 5 : 3_000);
    const { texts, ranges } = await readAll(await storeResult("run_mine", text), limit);
    expect(texts.join("")).toBe(text);
    expect(texts.length).toBeGreaterThan(1);
    expect(ranges.at(-1)).toContain(`to ${Buffer.byteLength(text)}`);
  });

  test("that is not text is read completely, in parts that fit", async () => {
    const bytes = new Uint8Array(50_000).fill(0xff);
    const { texts, ranges } = await readAll(await storeResult("run_mine", bytes), 40_000);
    expect(texts.join("")).toBe("\ufffd".repeat(50_000));
    for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThan(50_000);
    const ends = ranges.map((range) => Number(range.split(" to ")[1]));
    expect(texts.map(({ length }) => length)).toEqual(
      ends.map((end, index) => end - (ends[index - 1] ?? 0)),
    );
  });

  test("is empty beyond its end", async () => {
    const { artifacts, artifactId, state } = await storeResult();
    const args = { artifact_id: artifactId, offset: 99_999 };
    const { content: shown } = await retrieveArtifact(state, args, { artifacts }, never);
    expect(shown).toBe("\n[bytes 30000 to 30000 of 30000]");
  });
});

// Requirement: DUR-4
test("a result of the run that a server does not have yet is waited for", async () => {
  const { artifacts, artifactId, state } = await storeResult();
  const behind = {
    get: () => Promise.resolve(undefined),
    getStored: artifacts.getStored.bind(artifacts),
    read: artifacts.read.bind(artifacts),
  };
  const knowing = { ...state, offloaded: new Set([artifactId]) };
  const args = { artifact_id: artifactId };
  const read = await retrieveArtifact(knowing, args, { artifacts: behind }, never);
  expect(read).toMatchObject({ isError: false });
});

describe("an artifact of another run", () => {
  test("cannot be read", async () => {
    const { artifacts, artifactId, state } = await storeResult("run_other");
    const read = await retrieveArtifact(state, { artifact_id: artifactId }, { artifacts }, never);
    expect(read).toMatchObject({ isError: true });
  });

  test("can be read if the run was given it", async () => {
    const { artifacts, artifactId, state } = await storeResult("run_other");
    const files = [{ artifactId, path: "r.txt" }];
    const created = create(RunCreatedSchema, { tenant: "acme", files });
    const given = { ...state, head: { ...state.head, created } };
    const read = await retrieveArtifact(given, { artifact_id: artifactId }, { artifacts }, never);
    expect(read).toMatchObject({ isError: false });
  });
});

// Requirement: META-4
test.each(["art_unknown0000000000", "*", "", "../x", 7])(
  "an unknown id is refused with the known ids: %j",
  async (id) => {
    const { artifacts, artifactId, state } = await storeResult();
    const knowing = { ...state, offloaded: new Set([artifactId]) };
    const read = await retrieveArtifact(knowing, { artifact_id: id }, { artifacts }, never);
    expect(read.isError).toBe(true);
    expect(read.content).toContain(artifactId);
  },
);

// Requirement: RES-13
test("an artifact of a result that a guard refused cannot be read", async () => {
  const { artifacts, artifactId, state } = await storeResult();
  const guarded = { ...state, withheld: new Set([artifactId]) };
  const read = await retrieveArtifact(guarded, { artifact_id: artifactId }, { artifacts }, never);
  expect(read).toMatchObject({
    isError: true,
    content: expect.stringContaining("a guard withholds"),
  });
});
