import { exposeTools } from "@reeve/agent/tools/injected-args";
import { readingLength } from "@reeve/agent/text/reading-length";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { ModelCallPurpose } from "@reeve/contracts/run";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { contextLimit } from "../domain/context/context-limit.ts";
import { summaryTokens, unitsToRemove } from "../domain/context/plan-compaction.ts";
import { summaryInstructions, transcript } from "../domain/context/summary-prompt.ts";
import type { Frame, ModelCall } from "../domain/state/frame.ts";
import { plannerId } from "../domain/state/frame.ts";
import { modelOf } from "../domain/model/model-of.ts";
import { promptFor } from "../domain/model/prompt-for.ts";
import type { RunState } from "../domain/state/run-state.ts";
import { systemPrompt } from "../domain/model/system-prompt.ts";
import type { ModelRequest } from "../ports/model-provider.ts";
import { ModelFailure } from "../ports/model-provider.ts";

/** Returns the request for the next turn of a frame, or for a summary of the older part of its conversation. */
export function modelRequest(state: RunState, frame: Frame, call: ModelCall): ModelRequest {
  const model = modelOf(state, frame);
  const spec = state.head.created?.spec;
  if (spec === undefined || model === undefined) {
    throw new ModelFailure("invalid", `run ${state.head.runId} has no model`);
  }
  const capabilities =
    frame.id === plannerId
      ? state.head.prepared?.planningCapabilities
      : state.head.prepared?.capabilities;
  const common = { model, parallelToolCalls: capabilities?.parallelToolCalls ?? true };
  if (call.purpose === ModelCallPurpose.SUMMARY) {
    const { compactAt, window } = contextLimit(state, frame);
    const instructions = systemPrompt(state, frame);
    const removed = unitsToRemove(frame, instructions, compactAt) ?? 0;
    return {
      ...common,
      instructions: summaryInstructions,
      messages: [{ role: "user", text: transcript(frame, removed, window) }],
      tools: [],
      temperature: undefined,
      maxTokens: Math.max(256, summaryTokens(compactAt)),
    };
  }
  return {
    ...common,
    instructions: systemPrompt(state, frame),
    messages: promptFor(state, frame),
    tools: exposedTools(frame, spec.injectedToolArgs),
    temperature: spec.temperature,
    maxTokens: spec.maxTokens,
  };
}

/** Adds the injected arguments to every tool except `finish_subtask`, whose arguments are the result of the subtask. */
function exposedTools(
  { tools }: Frame,
  injected: Readonly<Record<string, string>>,
): readonly ToolDescriptor[] {
  const finish = tools.get(finishSubtaskName);
  const others = [...tools.values()].filter((tool) => tool !== finish);
  const exposed = exposeTools(others, injected);
  return finish === undefined ? exposed : [...exposed, finish];
}

/** Returns the reading length of a request, from which its tokens are estimated. */
export function charactersOf({ instructions, messages }: ModelRequest): number {
  return messages.reduce((sum, message) => {
    switch (message.role) {
      case "tool":
        return sum + readingLength(message.content) + noteCharacters(message.notes);
      case "verbatim":
        return sum + readingLength(message.messageJson);
      case "user":
        return sum + readingLength(message.text) + noteCharacters(message.notes);
      case "assistant":
        return sum + readingLength(message.text);
    }
    return sum;
  }, readingLength(instructions));
}

function noteCharacters(notes: readonly string[] = []): number {
  return notes.reduce((sum, note) => sum + readingLength(note), 0);
}
