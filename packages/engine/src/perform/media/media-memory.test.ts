import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import { expect, test } from "vitest";
import type { ImageRequest } from "../../ports/media-generator.ts";
import { memoryFor } from "./media-memory.ts";

const model = create(ModelSpecSchema);
const image = (size: string | undefined, count = 1): ImageRequest => ({
  kind: "image",
  model,
  prompt: "a cat",
  count,
  size,
  quality: undefined,
  format: "png",
});
const mebibytes = (request: Parameters<typeof memoryFor>[0]) =>
  Math.round(memoryFor(request) / 2 ** 20);

test("the memory for an answer follows from the size and number of its files", () => {
  expect(mebibytes(image("1024x1024"))).toBe(16);
  expect(mebibytes(image("1024x1024", 4))).toBe(64);
  expect(mebibytes(image("auto"))).toBe(mebibytes(image("1536x1024")));
  // No file is larger than 20 MiB.
  expect(mebibytes(image("8000x8000"))).toBe(80);
  const speech = { kind: "speech", model, format: "mp3", instructions: undefined } as const;
  expect(mebibytes({ ...speech, text: "a".repeat(20_000), voice: undefined })).toBe(80);
  expect(mebibytes({ ...speech, text: "hello", voice: undefined })).toBe(0);
});
