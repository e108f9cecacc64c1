import { setImmediate } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { allModalities } from "@reeve/contracts/content/media";
import type {
  ModelPart,
  ModelProvider,
  ModelRequest,
  ModelTurn,
} from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { sleep } from "@reeve/platform/async/sleep";
import { mediaKinds } from "@reeve/agent/media/media-kinds";
import { scriptedMedia } from "./scripted-media.ts";
import { chooseTurn } from "./choose-turn.ts";
import { FailureCounts } from "./count-failures.ts";
import { UnknownQuotation, fillText, fillValue } from "./fill-quotations.ts";
import type { ScriptContext } from "./script-context.ts";
import { scriptContext } from "./script-context.ts";
import type { Script, ScriptFailure, ScriptTurn } from "./script.ts";

/**
 * Creates a provider that plays scripts instead of calling a model; its descriptor says so. The same prompt always gives the
 * same turn, after the failures that the turn defines.
 */
export function scriptedProvider(scripts: readonly Script[]): ModelProvider {
  const byName = new Map(scripts.map((script) => [script.name, script]));
  const descriptor = create(ProviderDescriptorSchema, {
    name: "scripted",
    capabilities: { tools: true, parallelToolCalls: true, reasoning: true },
    scripted: true,
    modalities: [...allModalities],
    generates: scripts.some(({ media }) => media !== undefined) ? [...mediaKinds] : [],
    upstreamNames: [...byName.keys()],
  });
  const failures = new FailureCounts();
  return {
    descriptor,
    format: "scripted",
    media: scriptedMedia(byName),
    async *stream(request, signal) {
      const { model } = request;
      const script = byName.get(model.upstreamName);
      if (script === undefined) {
        const known = [...byName.keys()].join(", ");
        throw new ModelFailure("invalid", `no script ${model.upstreamName}; there are: ${known}`);
      }
      yield* play(script, request, failures, signal);
    },
  };
}

async function* play(
  script: Script,
  request: ModelRequest,
  failures: FailureCounts,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  const context = scriptContext(request);
  const chosen = chooseTurn(script, context);
  const failure = dueFailure(chosen, request, failures);
  const turn = filledTurn(script, chosen, context);
  let wordsLeft = failure?.afterWords ?? Number.POSITIVE_INFINITY;
  for (const kind of ["reasoning", "text"] as const) {
    for (const word of turn[kind].match(/\S+\s*|\s+/gu) ?? []) {
      if (wordsLeft-- <= 0) break;
      await pause(script.paceMs, signal);
      yield { kind, text: word };
    }
  }
  await pause(0, signal);
  if (failure !== undefined) {
    const { reason, message, ...options } = failure;
    throw new ModelFailure(reason, message, options);
  }
  yield { kind: "turn", turn: modelTurn(script, turn, context.turnCount) };
}

function dueFailure(
  { fail }: ScriptTurn,
  request: ModelRequest,
  failures: FailureCounts,
): ScriptFailure | undefined {
  if (fail?.times === undefined) return fail;
  return failures.isDue(request, fail.times) ? fail : undefined;
}

/** Yields to the event loop even without a delay, so that an abort takes effect between any two words. */
async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  if (delayMs > 0) return await sleep(delayMs, signal);
  await setImmediate();
  signal.throwIfAborted();
}

interface FilledTurn {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly argumentsText: string }[];
  readonly finish: string | undefined;
  readonly usage: ScriptTurn["usage"];
}

function filledTurn(
  script: Script,
  { reasoning, text, toolCalls, finish, usage }: ScriptTurn,
  context: ScriptContext,
): FilledTurn {
  try {
    return {
      reasoning: fillText(reasoning, context),
      text: fillText(text, context),
      calls: toolCalls.map(({ name, arguments: given }) => ({
        name,
        argumentsText:
          typeof given === "string"
            ? fillText(given, context)
            : JSON.stringify(fillValue(given, context)),
      })),
      finish,
      usage,
    };
  } catch (error) {
    if (!(error instanceof UnknownQuotation)) throw error;
    const place = `turn ${context.turnCount + 1} of ${script.file}`;
    throw new ModelFailure("invalid", `${place}: ${error.message}`, { cause: error });
  }
}

function modelTurn(script: Script, turn: FilledTurn, turnCount: number): ModelTurn {
  const calls = turn.calls.map((call, index) => ({
    ...call,
    providerCallId: `call_${turnCount + 1}_${index + 1}`,
  }));
  const message = {
    role: "assistant",
    content: turn.text === "" && calls.length > 0 ? null : turn.text,
    ...(turn.reasoning !== "" && { reasoning_content: turn.reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ providerCallId, name, argumentsText }) => ({
        id: providerCallId,
        type: "function",
        function: { name, arguments: argumentsText },
      })),
    }),
  };
  return {
    messageJson: JSON.stringify(message),
    finishReason: turn.finish ?? (calls.length > 0 ? "tool_calls" : "stop"),
    calls,
    usage: turn.usage && {
      ...turn.usage,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      reasoningTokens: 0,
    },
    model: script.name,
  };
}
