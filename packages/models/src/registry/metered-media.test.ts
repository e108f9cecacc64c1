import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import type { ImageRequest, MediaPart } from "@reeve/engine/ports/media-generator";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { readMetrics } from "@reeve/platform/telemetry/metrics";
import { expect, test } from "vitest";
import type { EndedModelCall } from "./ended-model-call.ts";
import { meteredMedia } from "./metered-media.ts";

const never = new AbortController().signal;
const bytes = new Uint8Array(4);
const owner = { tenant: "acme", runId: "run_1" };

/** Generates two images with a model of this name. Returns what is reported, and the metrics of the model. */
async function generated(
  name: string,
  play: (signal: AbortSignal) => AsyncIterable<MediaPart>,
  signal = never,
) {
  const ended: EndedModelCall[] = [];
  const model = { provider: "openai", upstreamName: name, pricing: { usdPerImage: 0.25 } };
  const request: ImageRequest = {
    kind: "image",
    model: create(ModelSpecSchema, model),
    owner,
    prompt: "a cat",
    count: 2,
    size: undefined,
    quality: undefined,
    format: "png",
  };
  const metered = meteredMedia({ generate: (_, until) => play(until) }, (call) => {
    ended.push(call);
  });
  try {
    for await (const _ of metered.generate(request, signal));
  } catch {
    // Only what is counted matters here.
  }
  const { text } = await readMetrics();
  const lines = text.split("\n").filter((line) => line.includes(`model="${name}"`));
  const value = (metric: string) => lines.find((line) => line.startsWith(metric))?.split(" ")[1];
  const outcome = lines.find((line) => line.startsWith("reeve_media_generations_total"));
  return {
    ended,
    outcome: /outcome="(\w+)"/.exec(outcome ?? "")?.[1],
    files: value("reeve_media_files_total"),
    cost: value("reeve_media_cost_usd_total"),
    timed: value("reeve_media_generation_duration_seconds_count"),
  };
}

test("counts the files, the cost, and the duration of a generation", async () => {
  const { ended, ...counted } = await generated("painter", async function* () {
    yield { kind: "partial", bytes };
    yield { kind: "file", bytes };
    yield { kind: "file", bytes };
    yield { kind: "usage", inputTokens: 3, outputTokens: 5 };
  });
  expect(counted).toEqual({ outcome: "generated", files: "2", cost: "0.5", timed: "1" });
  expect(ended).toMatchObject([
    { owner, usage: { inputTokens: 3, outputTokens: 5, costUsd: 0.5 }, model: { id: "" } },
  ]);
});

// oxlint-disable-next-line require-yield -- it has nothing to yield.
async function* refused(): AsyncIterable<MediaPart> {
  throw new ModelFailure("refused", "not this");
}

test("a refused generation costs nothing", async () => {
  const { ended, ...counted } = await generated("prude", refused);
  expect(counted).toEqual({ outcome: "refused", files: "0", cost: "0", timed: "1" });
  expect(ended).toMatchObject([{ usage: undefined }]);
});

// Requirement: CAN-3
test("a cancelled generation costs what it may be billed, and is no failure", async () => {
  const cancel = new AbortController();
  const { ended, ...counted } = await generated(
    "slow",
    async function* (signal) {
      yield { kind: "partial", bytes };
      cancel.abort();
      signal.throwIfAborted();
    },
    cancel.signal,
  );
  expect(counted).toEqual({ outcome: "cancelled", files: "0", cost: "0.5", timed: "1" });
  expect(ended).toEqual([]);
});
