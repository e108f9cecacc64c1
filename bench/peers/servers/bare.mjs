import { callMessage, callModel, maxTurns, resultMessage, toolResult } from "./loop.mjs";
import { serve } from "./serve.mjs";

/** The loop by hand, in memory: the floor of what an HTTP server with an agent costs. */
const baseUrl = process.env.OPENAI_BASE_URL;

serve(async (model, write) => {
  const messages = [{ role: "user", content: "go" }];
  for (let turn = 0; turn < maxTurns; turn++) {
    const { calls } = await callModel(baseUrl, model, messages, write);
    if (calls.length === 0) return;
    messages.push(callMessage(calls));
    for (const id of calls) messages.push(resultMessage(id, toolResult));
  }
});
