import type { Fact } from "../domain/state/fact.ts";
import { fact } from "../domain/state/fact.ts";
import type { Effect } from "../domain/next-effects.ts";
import { restMs } from "../domain/next-effects.ts";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { answerQuestion } from "./answer-question.ts";
import { awaitClient } from "./await-client.ts";
import { callModel } from "./call-model.ts";
import { callPluginTool } from "./plugins/call-plugin-tool.ts";
import { callRuntimeTool } from "./runtime-tools/call-runtime-tool.ts";
import { callTool } from "./call-tool.ts";
import { generateMedia } from "./media/generate-media.ts";
import { reviewCall } from "./review/review-call.ts";
import { waitForDelay } from "./wait-for-delay.ts";
import { inheritCalls } from "./inherit-calls.ts";
import { inspectCall } from "./inspect-call.ts";
import { runHook } from "./plugins/run-hook.ts";
import { countTokens } from "./models/count-tokens.ts";

/** Performs an effect, and yields its facts: the only part of a run that is not a pure function. `current` returns the state of now. */
export function perform(
  current: () => RunState,
  effect: Effect,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const state = current();
  switch (effect.kind) {
    case "call_model":
      return callModel(state, effect, ports, signal);
    case "count_tokens":
      return countTokens(state, effect, ports, signal);
    case "call_tool":
      return callTool(state, effect, ports, signal);
    case "inspect_call":
      return inspectCall(state, effect, ports, signal);
    case "review_call":
      return reviewCall(state, effect, ports, signal);
    case "call_runtime_tool":
      return callRuntimeTool(state, effect, ports, signal);
    case "generate_media":
      return generateMedia(state, effect, ports, signal);
    case "call_plugin_tool":
      return callPluginTool(state, effect, ports, signal);
    case "run_hook":
      return runHook(current, effect, ports, signal);
    case "answer_question":
      return answerQuestion(state, effect, ports, signal);
    case "await_client":
      return awaitClient(effect, ports, signal);
    case "inherit_calls":
      return inheritCalls(state, effect, ports, signal);
    case "wait_for_delay":
      return waitForDelay(effect, ports, signal);
    case "wait_to_retry":
      return waitToRetry(effect, ports, signal);
  }
}

async function* waitToRetry(
  effect: Extract<Effect, { kind: "wait_to_retry" }>,
  { clock }: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  await clock.sleep(restMs(effect, clock.now()), signal);
  const value = { attempt: effect.call.attempt };
  yield [fact(effect.scope, { case: "modelRetryDue", value })];
}
