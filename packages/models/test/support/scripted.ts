import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import type { ModelPart, ModelRequest, PromptMessage } from "@reeve/engine/ports/model-provider";
import { parseScript } from "../../src/scripted/script.ts";
import { scriptedProvider } from "../../src/scripted/scripted-provider.ts";

/** Creates a provider with one script, `weather`. */
export const providerOf = (script: string) =>
  scriptedProvider([parseScript(script, "weather.yaml")]);

export function requestOf(
  messages: readonly PromptMessage[],
  { model = "weather", ...others }: Partial<Omit<ModelRequest, "model">> & { model?: string } = {},
): ModelRequest {
  return {
    model: create(ModelSpecSchema, { id: "m", upstreamName: model }),
    instructions: "",
    messages,
    tools: [],
    temperature: undefined,
    parallelToolCalls: true,
    maxTokens: undefined,
    ...others,
  };
}

/** Streams the answer of a script to messages. */
export function play(
  script: string,
  messages: readonly PromptMessage[],
  { signal = new AbortController().signal, model = "weather" } = {},
): AsyncIterable<ModelPart> {
  return providerOf(script).stream(requestOf(messages, { model }), signal);
}

/** Returns the turn of a script for messages. */
export async function turnOf(script: string, messages: readonly PromptMessage[]) {
  const part = (await Array.fromAsync(play(script, messages))).at(-1);
  if (part?.kind !== "turn") throw new Error("no turn");
  return part.turn;
}

/** Returns the text of such a turn. */
export async function textOf(script: string, messages: readonly PromptMessage[]): Promise<unknown> {
  return Reflect.get(JSON.parse((await turnOf(script, messages)).messageJson) as object, "content");
}

export const userMessage = {
  role: "user",
  text: "What about Bern?",
} as const satisfies PromptMessage;

/** A turn with tool calls. */
export const toolTurn: PromptMessage = { role: "verbatim", messageJson: "{}" };

/** Returns a result of the tool `forecast`. */
export const toolResult = (content: string, isError = false): PromptMessage => ({
  role: "tool",
  providerCallId: "call_1_1",
  name: "forecast",
  content,
  isError,
});
