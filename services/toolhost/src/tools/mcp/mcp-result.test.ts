import { expect, test } from "vitest";
import { mcpResult } from "./mcp-result.ts";

const data = Buffer.from([0, 255, 128]).toString("base64");

test("text is unchanged", () => {
  const content = [
    { type: "text" as const, text: "one" },
    { type: "text" as const, text: "two" },
  ];
  expect(mcpResult({ content, isError: true })).toEqual({ content: "one\ntwo", isError: true });
});

test("content other than text is attached, and named in its place", () => {
  const result = mcpResult({
    content: [
      { type: "image", mimeType: "image/png", data },
      { type: "text", text: "between" },
      { type: "audio", mimeType: "audio/wav", data },
      { type: "resource", resource: { uri: "file:///a.bin", blob: data } },
      { type: "resource", resource: { uri: "file:///a.txt", text: "inline" } },
      { type: "resource_link", name: "manual", uri: "https://example.com/manual" },
    ],
  });
  expect(result.content.split("\n")).toEqual([
    "[image 1: image/png, 3 bytes]",
    "between",
    "[audio 2: audio/wav, 3 bytes]",
    "[file 3: of unknown type, 3 bytes] file:///a.bin",
    "inline",
    "[manual: https://example.com/manual]",
  ]);
  expect(result.attachments?.map(({ label, bytes }) => [label, [...bytes]])).toEqual([
    ["image 1", [0, 255, 128]],
    ["audio 2", [0, 255, 128]],
    ["file 3", [0, 255, 128]],
  ]);
  expect(result.content).not.toContain(data);
});

test("a record without text becomes its JSON", () => {
  expect(mcpResult({ content: [], structuredContent: { a: 1 } })).toMatchObject({
    content: '{"a":1}',
    structured: { a: 1 },
  });
});

test("a record that cannot be written as JSON is left out", () => {
  let structuredContent: Record<string, unknown> = {};
  for (let level = 0; level < 100_000; level++) structuredContent = { in: structuredContent };
  const result = mcpResult({ content: [], structuredContent });
  expect(result).toEqual({ content: "[a record that is nested too deeply]", isError: false });
});
