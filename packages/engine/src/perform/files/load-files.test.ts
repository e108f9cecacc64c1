import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { Failure } from "@reeve/platform/failure";
import { ByteBudget } from "@reeve/platform/async/coordination/byte-budget";
import { ErrorReason } from "@reeve/contracts/error";
import { ModelFailure } from "../../ports/model-provider.ts";
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
  expect([...(loaded.files.files ?? [])]).toEqual([[artifactId, Buffer.from([1, 2])]]);
  const gone = await loadFiles(state, request("art_gone"), { artifacts }, never);
  expect(gone.files.files?.size).toBe(0);
});

test("nothing is read for a request without files", async () => {
  const artifacts = { read, get: read, getStored: read };
  const messages = [{ role: "user", text: "hi" } as const];
  const loaded = await loadFiles(state, { messages }, { artifacts }, never);
  expect(loaded.files).toEqual({});
});

function failing(kind: "unavailable" | "internal") {
  async function* fail() {
    yield Uint8Array.from([1]);
    throw new Failure(kind, ErrorReason.INTERNAL, "the store is in trouble");
  }
  return { read: fail, get: read, getStored: read };
}

test("a store that does not answer is a failure that may be retried", async () => {
  const loading = loadFiles(state, request("art_a"), { artifacts: failing("unavailable") }, never);
  const failure = await loading.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ModelFailure);
  expect(failure).toMatchObject({ reason: "unavailable", retryable: true });
});

test("a damaged file is missing", async () => {
  const loaded = await loadFiles(
    state,
    request("art_a"),
    { artifacts: failing("internal") },
    never,
  );
  expect(loaded.files.files?.size).toBe(0);
});

test("requests with files wait until there is memory for them, also after one that failed", async () => {
  const fileMemory = new ByteBudget(30);
  const artifacts = new MemoryArtifactStore({ maxBytes: 10 });
  const ports = { artifacts, fileMemory };
  const failed = loadFiles(
    state,
    request("art_a"),
    { ...ports, artifacts: failing("unavailable") },
    never,
  );
  await expect(failed).rejects.toThrow("art_a");
  const first = await loadFiles(state, request("art_b"), ports, never);
  const second = loadFiles(state, request("art_c"), ports, never);
  expect(fileMemory.waiting).toBe(1);
  first[Symbol.dispose]();
  using _ = await second;
  expect(fileMemory.available).toBe(20);
});
