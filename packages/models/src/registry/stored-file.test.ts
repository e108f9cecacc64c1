import { expect, test } from "vitest";
import { parseStoredFile, renderStoredFile } from "./stored-file.ts";

test("a file with everything that can be stored is the same after it was written and read", () => {
  const text = `
providers:
  - { name: lab, api: responses, base_url: "https://models.example.org/v1", secret: lab }
  - { name: open, base_url: "https://models.example.org/v1" }
models:
  - id: deep
    provider: lab
    upstream_name: qwen3
    context_window: 32000
    max_output_tokens: 4000
    modalities: [text, image]
    generates: [image]
    partial_images: 2
    knowledge_cutoff: 2026-01
    pricing:
      input_usd_per_million: 0
      cached_input_usd_per_million: 0
      output_usd_per_million: 4.5
      usd_per_image: 0.04
      long_requests: [{ above_input_tokens: 9, input_usd_per_million: 1, output_usd_per_million: 2 }]
    capabilities: { tools: false }
  - { id: plain, provider: open }
`;
  const parsed = parseStoredFile(text, "a.yaml");
  const written = renderStoredFile(parsed);
  expect(parseStoredFile(written, "b.yaml")).toEqual(parsed);
  expect(written).not.toContain("parallel_tool_calls: false");
});

// Requirement: CFG-15
test("a file of nothing has an empty list, so that it is recognized as a file of models", () => {
  const written = renderStoredFile({ providers: [], models: [] });
  expect(written).toBe("models: []\n");
  expect(parseStoredFile(written, "empty.yaml")).toEqual({ providers: [], models: [] });
});
