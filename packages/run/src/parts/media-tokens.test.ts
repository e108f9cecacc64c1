import { create } from "@bufbuild/protobuf";
import { tokensIn } from "@reeve/agent/text/count-tokens";
import { ContentPartSchema, FilePartSchema } from "@reeve/contracts/content/parts";
import { expect, test } from "vitest";
import { fileTokens, partsTokens } from "./media-tokens.ts";

const image = (width: number, height: number) =>
  create(FilePartSchema, { mediaType: "image/png", width, height });

const file = (mediaType: string, sizeBytes: number) =>
  create(FilePartSchema, { mediaType, sizeBytes });

test("an image counts by its size and by the rules of its provider", () => {
  expect(fileTokens(image(750, 1_000), "anthropic")).toBe(1_000);
  expect(fileTokens(image(8_000, 8_000), "anthropic")).toBe(4_784);
  // One tile.
  expect(fileTokens(image(64, 64), "openai")).toBe(255);
  // Reduced to 768 pixels: four tiles, but 1,024 patches.
  expect(fileTokens(image(1_024, 1_024), "openai")).toBe(2_520);
  expect(fileTokens(image(8_000, 8_000), "openai")).toBe(3_779);
});

test("documents and audio count by their length", () => {
  expect(fileTokens(file("application/pdf", 100), "anthropic")).toBe(3_000);
  expect(fileTokens(file("application/pdf", 1_000_000), "anthropic")).toBe(50_000);
  expect(fileTokens(file("audio/wav", 400_000), "openai")).toBe(1_000);
});

test("the tokens of all parts of a message are added up", () => {
  const parts = [
    create(ContentPartSchema, { part: { case: "text", value: "hello" } }),
    create(ContentPartSchema, { part: { case: "file", value: image(64, 64) } }),
  ];
  expect(partsTokens(parts, "openai")).toBe(tokensIn("hello") + 255);
});
