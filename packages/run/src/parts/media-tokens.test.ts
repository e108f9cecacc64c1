import { create } from "@bufbuild/protobuf";
import { tokensIn } from "@reeve/agent/text/count-tokens";
import { ContentPartSchema, FilePartSchema } from "@reeve/contracts/content/parts";
import { expect, test } from "vitest";
import { fileTokens, partsTokens } from "./media-tokens.ts";

const image = (width: number, height: number) =>
  create(FilePartSchema, { mediaType: "image/png", width, height });

const file = (mediaType: string, sizeBytes: number) =>
  create(FilePartSchema, { mediaType, sizeBytes });

test("an image counts as much as any API counts it", () => {
  expect(fileTokens(image(750, 1_000))).toBe(1_890);
  // The largest count of Anthropic exceeds that of OpenAI.
  expect(fileTokens(image(8_000, 8_000))).toBe(4_784);
  // One tile.
  expect(fileTokens(image(64, 64))).toBe(255);
  // Reduced to 768 pixels: four tiles, but 1,024 patches.
  expect(fileTokens(image(1_024, 1_024))).toBe(2_520);
});

test("documents and audio count by their length", () => {
  expect(fileTokens(file("application/pdf", 100))).toBe(3_000);
  expect(fileTokens(file("application/pdf", 1_000_000))).toBe(50_000);
  expect(fileTokens(file("audio/wav", 400_000))).toBe(1_000);
});

test("the tokens of all parts of a message are added up", () => {
  const parts = [
    create(ContentPartSchema, { part: { case: "text", value: "hello" } }),
    create(ContentPartSchema, { part: { case: "file", value: image(64, 64) } }),
  ];
  expect(partsTokens(parts)).toBe(tokensIn("hello") + 255);
});
