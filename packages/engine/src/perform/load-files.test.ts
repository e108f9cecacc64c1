import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { expect, test } from "vitest";
import { PlayedRun } from "../../test/support/run-player.ts";
import { loadFiles } from "./load-files.ts";

const never = new AbortController().signal;
const { state } = new PlayedRun();

const request = (artifactId: string) => {
  const file = {
    kind: "file",
    artifactId,
    mediaType: "image/png",
    name: "p",
    sizeBytes: 2,
    sha256: "",
    tokens: 1,
  } as const;
  return { messages: [{ role: "user", text: "look", parts: [file, file] } as const] };
};

async function* content() {
  yield Uint8Array.from([1]);
  yield Uint8Array.from([2]);
}

function read(): never {
  throw new Error("read");
}

test("the files of a request are read once each, and one that was deleted is missing", async () => {
  const artifacts = new MemoryArtifactStore({ maxBytes: 10 });
  const draft = { name: "p", mediaType: "image/png", runId: "" };
  const { artifactId } = await artifacts.put("acme", draft, content(), never);
  const loaded = await loadFiles(state, request(artifactId), { artifacts }, never);
  expect([...(loaded.files ?? [])]).toEqual([[artifactId, Buffer.from([1, 2])]]);
  const gone = await loadFiles(state, request("art_gone"), { artifacts }, never);
  expect(gone.files?.size).toBe(0);
});

test("nothing is read for a request without files", async () => {
  const artifacts = { read, get: read, getStored: read };
  const messages = [{ role: "user", text: "hi" } as const];
  expect(await loadFiles(state, { messages }, { artifacts }, never)).toEqual({});
});
