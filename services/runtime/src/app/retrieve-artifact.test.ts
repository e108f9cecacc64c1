import { create } from "@bufbuild/protobuf";
import { RunCreatedSchema } from "@reeve/contracts/run";
import { MemoryArtifactStore } from "@reeve/store/memory-artifact-store";
import { describe, expect, test } from "vitest";
import type { RunState } from "../domain/run-state.ts";
import { initialState } from "../domain/run-state.ts";
import { retrieveArtifact } from "./retrieve-artifact.ts";

const never = new AbortController().signal;
const content = "0123456789".repeat(3_000);

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text.slice(0, 7));
  yield Buffer.from(text.slice(7));
}

/** A run that has kept a result of 30,000 bytes. */
async function keeper(runId = "run_mine") {
  const artifacts = new MemoryArtifactStore({ maxBytes: 100_000 });
  const draft = { name: "r.txt", mediaType: "text/plain", runId: "run_mine" };
  const { artifactId } = await artifacts.put("acme", draft, once(content), never);
  const state: RunState = {
    ...initialState,
    runId,
    created: create(RunCreatedSchema, { tenant: "acme" }),
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
    const given = { ...state, created: create(RunCreatedSchema, { tenant: "acme", files }) };
    const read = await retrieveArtifact(given, { artifact_id: artifactId }, { artifacts }, never);
    expect(read).toMatchObject({ isError: false });
  });
});

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
