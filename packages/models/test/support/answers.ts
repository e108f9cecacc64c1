import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import type { ModelPart, ModelRequest, ModelTurn } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";

/** Returns a short request that ends with these messages. */
export function requestOf(messages: ModelRequest["messages"] = []): ModelRequest {
  return {
    model: create(ModelSpecSchema, { id: "m", upstreamName: "some-model" }),
    instructions: "be brief",
    messages: [{ role: "user", text: "hello" }, ...messages],
    tools: [],
    parallelToolCalls: true,
    temperature: undefined,
    maxTokens: undefined,
  };
}

/** A complete answer, with its streamed texts. */
export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly turn: ModelTurn;
}

/** Reads an answer to its end. */
export async function answerFrom(parts: AsyncIterable<ModelPart>): Promise<Answer> {
  const texts = { text: "", reasoning: "" };
  for await (const part of parts) {
    if (part.kind === "turn") return { ...texts, turn: part.turn };
    if (part.kind === "text" || part.kind === "reasoning") texts[part.kind] += part.text;
  }
  throw new Error("no turn");
}

/** Returns the failure instead of an answer. Rejects if there is an answer. */
export async function failureOf(answering: Promise<unknown>): Promise<ModelFailure> {
  try {
    await answering;
  } catch (error) {
    if (error instanceof ModelFailure) return error;
    throw error;
  }
  throw new Error("there was an answer");
}
