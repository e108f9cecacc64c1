import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, stepCountIs, streamText, tool } from "ai";
import { maxTurns, toolDescription, toolName, toolParameters, toolResult } from "./loop.mjs";
import { serve } from "./serve.mjs";

const provider = createOpenAICompatible({ name: "bench", baseURL: process.env.OPENAI_BASE_URL });
const tools = {
  [toolName]: tool({
    description: toolDescription,
    inputSchema: jsonSchema(toolParameters),
    execute: async () => toolResult,
  }),
};

serve(async (model, write) => {
  const { textStream } = streamText({
    model: provider(model),
    prompt: "go",
    tools,
    stopWhen: stepCountIs(maxTurns),
    onError: ({ error }) => {
      throw error;
    },
  });
  for await (const text of textStream) write(text);
});
