import { create } from "@bufbuild/protobuf";
import { RunCreatedSchema } from "@reeve/contracts/run";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { describe, expect, test } from "vitest";
import type { RunState } from "../domain/state/run-state.ts";
import { initialState } from "../domain/state/run-state.ts";
import { retrieveArtifact } from "./retrieve-artifact.ts";
import { emptyHead } from "@reeve/run/head/run-head";

const never = new AbortController().signal;
const content = "0123456789".repeat(3_000);

async function* once(kept: string | Uint8Array): AsyncIterable<Uint8Array> {
  const bytes = Buffer.from(kept);
  yield bytes.subarray(0, 7);
  yield bytes.subarray(7);
}

/** What a model has read that goes on as it is told to, and from where to where each part reached. */
async function readOn({ artifacts, artifactId, state }: Keeper, limit?: number) {
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

type Keeper = Awaited<ReturnType<typeof keeper>>;

/** A run that has kept a result of 30,000 bytes. */
async function keeper(runId = "run_mine", kept: string | Uint8Array = content) {
  const artifacts = new MemoryArtifactStore({ maxBytes: 100_000 });
  const draft = { name: "r.txt", mediaType: "text/plain", runId: "run_mine" };
  const { artifactId } = await artifacts.put("acme", draft, once(kept), never);
  const state: RunState = {
    ...initialState,
    head: { ...emptyHead, runId, created: create(RunCreatedSchema, { tenant: "acme" }) },
  };
  return { artifacts, artifactId, state };
}

describe("a result that was kept", () => {
  test("is read from its beginning, as much as is usual, with the way to go on", async () => {
    const { artifacts, artifactId, state } = await keeper();
    const read = await retrieveArtifact(state, { artifact_id: artifactId }, { artifacts }, never);
    expect(read.isError).toBe(false);
    expect(read.content).toBe(
      `${content.slice(0, 20_000)}\n[bytes 0 to 20000 of 30000; read on with offset 20000]`,
    );
  });

  test("is read in parts that make the whole", async () => {
    const { artifacts, artifactId, state } = await keeper();
    let whole = "";
    for (let offset = 0; offset < content.length; offset += 7_000) {
      const args = { artifact_id: artifactId, offset, limit: 7_000 };
      const read = await retrieveArtifact(state, args, { artifacts }, never);
      whole += read.content.split("\n[bytes")[0];
    }
    expect(whole).toBe(content);
  });

  test.each([undefined, 1_000, 2])(
    "has no character cut, however it is parted: %s",
    async (limit) => {
      const text = "a漢😀é".repeat(limit === 2 ? 5 : 3_000);
      const { texts, ranges } = await readOn(await keeper("run_mine", text), limit);
      expect(texts.join("")).toBe(text);
      expect(texts.length).toBeGreaterThan(1);
      expect(ranges.at(-1)).toContain(`to ${Buffer.byteLength(text)}`);
    },
  );

  test("that is no text is told in full, as much at a time as there is room for", async () => {
    const bytes = new Uint8Array(50_000).fill(0xff);
    const { texts, ranges } = await readOn(await keeper("run_mine", bytes), 40_000);
    expect(texts.join("")).toBe("\ufffd".repeat(50_000));
    for (const text of texts) expect(Buffer.byteLength(text)).toBeLessThan(50_000);
    const ends = ranges.map((range) => Number(range.split(" to ")[1]));
    expect(texts.map(({ length }) => length)).toEqual(
      ends.map((end, index) => end - (ends[index - 1] ?? 0)),
    );
  });

  test("has nothing behind its end", async () => {
    const { artifacts, artifactId, state } = await keeper();
    const args = { artifact_id: artifactId, offset: 99_999 };
    const { content: shown } = await retrieveArtifact(state, args, { artifacts }, never);
    expect(shown).toBe("\n[bytes 30000 to 30000 of 30000]");
  });
});

describe("an artifact of another run", () => {
  test("is not the model's to read", async () => {
    const { artifacts, artifactId, state } = await keeper("run_other");
    const read = await retrieveArtifact(state, { artifact_id: artifactId }, { artifacts }, never);
    expect(read).toMatchObject({ isError: true });
  });

  test("is, when the run was given it", async () => {
    const { artifacts, artifactId, state } = await keeper("run_other");
    const files = [{ artifactId, path: "r.txt" }];
    const created = create(RunCreatedSchema, { tenant: "acme", files });
    const given = { ...state, head: { ...state.head, created } };
    const read = await retrieveArtifact(given, { artifact_id: artifactId }, { artifacts }, never);
    expect(read).toMatchObject({ isError: false });
  });
});

// Requirement: META-4
test.each(["art_unknown0000000000", "*", "", "../x", 7])(
  "an id that the run does not know is refused with those that it does: %j",
  async (id) => {
    const { artifacts, artifactId, state } = await keeper();
    const knowing = { ...state, offloaded: new Set([artifactId]) };
    const read = await retrieveArtifact(knowing, { artifact_id: id }, { artifacts }, never);
    expect(read.isError).toBe(true);
    expect(read.content).toContain(artifactId);
  },
);
