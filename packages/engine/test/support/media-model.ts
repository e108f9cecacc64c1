import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { png } from "@reeve/jetstream/test/support/files/png";
import type { MediaPart, MediaRequest } from "../../src/ports/media-generator.ts";
import type { ModelProvider } from "../../src/ports/model-provider.ts";
import { countingModel } from "./models.ts";

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
