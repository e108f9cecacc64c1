import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { ByteBudget } from "@reeve/platform/async/coordination/byte-budget";
import { expect, test } from "vitest";
import { PlayedRun } from "../../test/support/run-player.ts";
import { nextEffects } from "../domain/next-effects.ts";
import type { ModelRequest } from "../ports/model-provider.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { callModel } from "./call-model.ts";

const { signal } = new AbortController();

async function* bytes() {
  yield Uint8Array.from([1, 2]);
}

test("the memory for the files of a request is held until the answer has ended: its provider keeps the request", async () => {
  const artifacts = new MemoryArtifactStore({ maxBytes: 10 });
  const draft = { name: "p", mediaType: "image/png", runId: "" };
  const { artifactId } = await artifacts.put("acme", draft, bytes(), signal);
  const value = {
    artifactId,
    mediaType: "image/png",
    name: "p",
    sizeBytes: 2,
    width: 1,
    height: 1,
  };
  const run = new PlayedRun(
    {},
    {
      created: { parts: [{ part: { case: "file", value } }] },
      prepared: { model: { id: "m", provider: "anthropic", modalities: ["text", "image"] } },
    },
  );
  const [effect] = nextEffects(run.state);
  if (effect?.kind !== "call_model") throw new Error("no model is to be called");
  const fileMemory = new ByteBudget(100);
  const seen: object[] = [];
  const note = ({ files }: ModelRequest) =>
    seen.push({ files: files?.size, free: fileMemory.available });
  const provider = {
    format: "test",
    async *stream(request: ModelRequest) {
      note(request);
      yield { kind: "text" as const, text: "a" };
      note(request);
      yield { kind: "text" as const, text: "b" };
    },
  };
  const parts = {
    provider: () => provider,
    policy: () => undefined,
    catalogs: () => ({ models: { models: [] } }),
    clock: { now: () => 0 },
    artifacts,
    fileMemory,
  };
  await Array.fromAsync(callModel(run.state, effect, parts as unknown as RunPorts, signal));
  expect(seen).toEqual([
    { files: 1, free: 90 },
    { files: 1, free: 90 },
  ]);
  expect(fileMemory.available).toBe(100);
});
