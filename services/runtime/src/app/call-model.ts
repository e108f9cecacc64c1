import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { exposeTools } from "@reeve/agent/injected-args";
import type { Fact } from "../domain/fact.ts";
import { fact, spoken } from "../domain/fact.ts";
import { modelTurnFacts } from "../domain/model-turn-facts.ts";
import type { Effect } from "../domain/next-effects.ts";
import { promptFor } from "../domain/prompt-for.ts";
import type { RunState } from "../domain/run-state.ts";
import type { ModelRequest } from "../ports/model-provider.ts";
import { ModelFailure } from "../ports/model-provider.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/** Calls the model once, and yields what it says as it says it, then its turn, or why there is none. */
export async function* callModel(
  state: RunState,
  { scope, call }: Extract<Effect, { kind: "call_model" }>,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const injected = state.created?.spec?.injectedToolArgs ?? {};
  try {
    const { provider, request } = openRequest(state, injected, ports);
    for await (const part of provider.stream(request, signal)) {
      switch (part.kind) {
        case "text":
        case "reasoning":
          yield [spoken(scope, part.kind, part.text)];
          break;
        case "turn":
          yield modelTurnFacts({
            runId: state.runId,
            scope,
            call,
            model: request.model,
            turn: part.turn,
            injectedKeys: Object.keys(injected),
            promptCharacters: charactersOf(request),
          });
          return;
      }
    }
    throw new ModelFailure("malformed", "the answer ended without a turn");
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    const { reason, message, retryable, retryAfterMs } = error;
    const value = {
      reason,
      message,
      retryable,
      ...(retryAfterMs !== undefined && { retryAfter: durationFromMs(retryAfterMs) }),
    };
    yield [fact(scope, { case: "modelCallFailed", value })];
  }
}

function openRequest(state: RunState, injected: Readonly<Record<string, string>>, ports: RunPorts) {
  const { created, prepared } = state;
  const model = prepared?.model;
  if (created?.spec === undefined || model === undefined) {
    throw new ModelFailure("invalid", `run ${state.runId} has no model`);
  }
  const provider = ports.provider(model.provider);
  if (provider === undefined) {
    throw new ModelFailure(
      "unavailable",
      `provider ${model.provider} is not configured on worker ${ports.worker}`,
    );
  }
  const request: ModelRequest = {
    model,
    instructions: created.spec.instructions,
    messages: promptFor(state),
    tools: exposeTools([...state.tools.values()], injected),
    temperature: created.spec.temperature,
    parallelToolCalls: state.prepared?.capabilities?.parallelToolCalls ?? true,
    maxTokens: created.spec.maxTokens,
  };
  return { provider, request };
}

function charactersOf({ instructions, messages }: ModelRequest): number {
  return messages.reduce((sum, message) => {
    switch (message.role) {
      case "tool":
        return sum + message.content.length;
      case "verbatim":
        return sum + message.messageJson.length;
      case "user":
      case "assistant":
        return sum + message.text.length;
    }
    return sum;
  }, instructions.length);
}
