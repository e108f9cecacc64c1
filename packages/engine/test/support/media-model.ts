import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { RunStatus } from "@reeve/contracts/run";
import { FilePartSchema } from "@reeve/contracts/content/parts";
import { png } from "@reeve/jetstream/test/support/files/png";
import { endRun } from "../../src/domain/end-run.ts";
import { generatedFacts } from "../../src/domain/media/media-facts.ts";
import { nextEffects } from "../../src/domain/next-effects.ts";
import { fact, rootScope } from "../../src/domain/state/fact.ts";
import type { MediaPart, MediaRequest } from "../../src/ports/media-generator.ts";
import type { ModelProvider } from "../../src/ports/model-provider.ts";
import { countingModel } from "./models.ts";
import { PlayedRun } from "./run-player.ts";

/** A model of the registry that generates images, each for 0.04 USD. */
export const painter = {
  id: "painter",
  provider: "test",
  upstreamName: "painter",
  generates: ["image"],
  pricing: { usdPerImage: 0.04 },
};

/** Returns a provider whose generations are played. */
export function generating(
  play: (request: MediaRequest, signal: AbortSignal) => AsyncIterable<MediaPart>,
): ModelProvider & { readonly asked: readonly MediaRequest[] } {
  const asked: MediaRequest[] = [];
  return {
    ...countingModel(0),
    asked,
    descriptor: create(ProviderDescriptorSchema, { name: "test", generates: ["image"] }),
    media: {
      generate(request, signal) {
        asked.push(request);
        return play(request, signal);
      },
    },
  };
}

/** Generates a partial image, and then as many images as are asked for. */
export async function* images(request: MediaRequest): AsyncIterable<MediaPart> {
  yield { kind: "partial", bytes: png(2, 2) };
  const count = request.kind === "image" ? request.count : 0;
  for (let number = 0; number < count; number++) yield { kind: "file", bytes: png(64, 48) };
  yield { kind: "usage", inputTokens: 9, outputTokens: 200 };
}

/** An agent whose workflow generates an image. */
export const paintingAgent = {
  model: "",
  media: { imageModel: "painter" },
  workflow: {
    nodes: [
      { id: "in", type: "input" },
      { id: "draw", type: "media:image", properties: { size: "64x48" } },
      { id: "out", type: "output" },
    ],
    edges: [
      { source: "in", target: "draw" },
      { source: "draw", sourceHandle: "result", target: "out" },
    ],
  },
};

/** A run that generates an image after a partial one, and whose first attempt was lost with its worker. */
export function recordedMedia(): PlayedRun {
  const run = new PlayedRun(paintingAgent).progresses("partial image").claimedAnew();
  const [effect] = nextEffects(run.state);
  const model = run.state.media[0]?.image;
  if (effect?.kind !== "generate_media" || model === undefined) {
    throw new Error("the run generates nothing");
  }
  const file = create(FilePartSchema, {
    artifactId: `art_${"0".repeat(32)}`,
    name: "image-1.png",
    mediaType: "image/png",
    sizeBytes: 70,
    width: 64,
    height: 48,
  });
  const generated = { model, files: [file], inputTokens: 9, outputTokens: 200 };
  return run.append(generatedFacts(effect, generated, run.nowMs));
}

/** A run that is cancelled while it generates an image. */
export function recordedCancelledMedia(): PlayedRun {
  const run = new PlayedRun(paintingAgent);
  const requested = {
    case: "cancelRequested",
    value: { requestedBy: "ann", reason: "enough" },
  } as const;
  const end = endRun(run.state, RunStatus.CANCELLED, "enough");
  return run.append([fact(rootScope, requested), ...end]);
}
