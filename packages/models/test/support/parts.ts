import { create } from "@bufbuild/protobuf";
import type { ModelSpec } from "@reeve/contracts/agent";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { ModelRequest } from "@reeve/engine/ports/model-provider";

const model = create(ModelSpecSchema, { id: "m", upstreamName: "some-model" });

/** Returns a request with these properties, and defaults otherwise. */
export function requestFor(
  given: Partial<Omit<ModelRequest, "model">> = {},
  facts: Partial<Pick<ModelSpec, "maxOutputTokens" | "capabilities">> = {},
): ModelRequest {
  return {
    model: { ...model, ...facts },
    instructions: "",
    messages: [],
    tools: [],
    parallelToolCalls: true,
    temperature: undefined,
    maxTokens: undefined,
    ...given,
  };
}

export const searchTool = create(ToolDescriptorSchema, {
  name: "search",
  description: "Searches",
  inputSchema: { type: "object", properties: { q: { type: "string" } } },
});
