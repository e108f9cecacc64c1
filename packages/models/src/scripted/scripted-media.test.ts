import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import type { MediaRequest } from "@reeve/engine/ports/media-generator";
import { inspectMedia } from "@reeve/jetstream/objects/inspect-media";
import { expect, test } from "vitest";
import { parseScript } from "./script.ts";
import { scriptedProvider } from "./scripted-provider.ts";

const never = new AbortController().signal;

const image: MediaRequest = {
  kind: "image",
  model: create(ModelSpecSchema, { upstreamName: "painter" }),
  prompt: "a cat",
  count: 2,
  size: undefined,
  quality: undefined,
  format: "png",
};

async function generated(script: string, request: MediaRequest) {
  const provider = scriptedProvider([parseScript(script, "painter.yaml")]);
  expect(provider.descriptor.generates).toEqual(["image", "speech"]);
  return await Array.fromAsync(provider.media?.generate(request, never) ?? []);
}

// Requirement: CHAT-1
test("a script generates images of its size, after partial ones, and speech", async () => {
  const parts = await generated("media: { size: 64x48, partials: 1 }", image);
  expect(parts.map(({ kind }) => kind)).toEqual(["partial", "file", "file", "usage"]);
  const [, first, second] = parts;
  if (first?.kind !== "file" || second?.kind !== "file") throw new Error("there is no file");
  expect(inspectMedia(first.bytes, "image/png")).toEqual({ width: 64, height: 48 });
  expect(first.bytes).not.toEqual(second.bytes);
  for (const format of ["mp3", "wav"] as const) {
    const { model } = image;
    const speech = { kind: "speech", model, text: "hi", format } as const;
    const asked = { ...speech, voice: undefined, instructions: undefined };
    const [file] = await generated("media: {}", asked);
    if (file?.kind !== "file") throw new Error("there is no file");
    const mediaType = format === "mp3" ? "audio/mpeg" : "audio/wav";
    expect(inspectMedia(file.bytes, mediaType)).toEqual({ width: 0, height: 0 });
  }
});

test("a script refuses as a provider would, and what it cannot generate", async () => {
  const refused = generated("media: { fail: { reason: refused, message: not this } }", image);
  await expect(refused).rejects.toMatchObject({ reason: "refused", message: "not this" });
  const jpeg = generated("media: {}", { ...image, format: "jpeg" });
  await expect(jpeg).rejects.toMatchObject({ reason: "unsupported" });
});
