import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { maxTurns, toolDescription, toolName, toolParameters, toolResult } from "./loop.mjs";
import { serve } from "./serve.mjs";

setTracingDisabled(true);
const modelProvider = new OpenAIProvider({
  apiKey: "none",
  baseURL: process.env.OPENAI_BASE_URL,
  useResponses: false,
});
const runner = new Runner({ modelProvider, tracingDisabled: true });
const search = tool({
  name: toolName,
  description: toolDescription,
  parameters: toolParameters,
  strict: true,
  execute: async () => toolResult,
});

serve(async (model, write) => {
  const agent = new Agent({ name: "bench", instructions: "", model, tools: [search] });
  const result = await runner.run(agent, "go", { stream: true, maxTurns });
  for await (const text of result.toTextStream()) write(text);
  await result.completed;
});
