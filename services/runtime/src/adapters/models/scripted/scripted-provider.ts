import { setImmediate, setTimeout } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import type {
  ModelPart,
  ModelProvider,
  ModelRequest,
  ModelTurn,
} from "../../../ports/model-provider.ts";
import { ModelFailure } from "../../../ports/model-provider.ts";
import { UnknownQuotation, fillText, fillValue } from "./fill-quotations.ts";
import type { ScriptContext } from "./script-context.ts";
import { holds, scriptContext } from "./script-context.ts";
import type { Script, ScriptTurn } from "./script.ts";

/**
 * Plays scripts instead of calling a model; says so in its descriptor. It keeps no state between calls: the same prompt
 * gives the same turn. It tells no usage, which the runtime then estimates.
 */
export function scriptedProvider(scripts: readonly Script[]): ModelProvider {
  const byName = new Map(scripts.map((script) => [script.name, script]));
  const descriptor = create(ProviderDescriptorSchema, {
    name: "scripted",
    capabilities: { tools: true, parallelToolCalls: true, reasoning: true },
    scripted: true,
    upstreamNames: [...byName.keys()],
  });
  return {
    descriptor,
    format: "scripted",
    async *stream({ model, messages }, signal) {
      const script = byName.get(model.upstreamName);
      if (script === undefined) {
        const known = [...byName.keys()].join(", ");
        throw new ModelFailure("invalid", `no script ${model.upstreamName}; there are: ${known}`);
      }
      yield* play(script, messages, signal);
    },
  };
}

async function* play(
  script: Script,
  messages: ModelRequest["messages"],
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  const context = scriptContext(messages);
  const turn = filledTurn(script, context);
  for (const kind of ["reasoning", "text"] as const) {
    for (const word of turn[kind].match(/\S+\s*|\s+/gu) ?? []) {
      await pause(script.paceMs, signal);
      yield { kind, text: word };
    }
  }
  await pause(0, signal);
  yield { kind: "turn", turn: modelTurn(script, turn, context.turnsSaid) };
}

/** Lets others work before the next word, so that an abort is seen between any two. */
async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await (delayMs === 0
      ? setImmediate(undefined, { signal })
      : setTimeout(delayMs, undefined, { signal }));
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

interface FilledTurn {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly argumentsText: string }[];
  readonly finish: string | undefined;
}

function filledTurn(script: Script, context: ScriptContext): FilledTurn {
  const { reasoning, text, toolCalls, finish } = chosenTurn(script, context);
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
    };
  } catch (error) {
    if (!(error instanceof UnknownQuotation)) throw error;
    const place = `turn ${context.turnsSaid + 1} of ${script.file}`;
    throw new ModelFailure("invalid", `${place}: ${error.message}`, { cause: error });
  }
}

function chosenTurn({ name, file, turns }: Script, context: ScriptContext): ScriptTurn {
  const number = context.turnsSaid + 1;
  const alternatives = turns[context.turnsSaid];
  if (alternatives === undefined) {
    throw new ModelFailure("invalid", `script ${name} has no turn ${number}: add one to ${file}`);
  }
  const chosen = alternatives.find(({ when }) => when === undefined || holds(when, context));
  if (chosen === undefined) {
    const hint = `add an alternative without \`when\` to ${file}`;
    throw new ModelFailure(
      "invalid",
      `script ${name} has no turn ${number} whose \`when\` holds: ${hint}`,
    );
  }
  return chosen;
}

function modelTurn(script: Script, turn: FilledTurn, turnsSaid: number): ModelTurn {
  const calls = turn.calls.map((call, index) => ({
    ...call,
    providerCallId: `call_${turnsSaid + 1}_${index + 1}`,
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
    usage: undefined,
    model: script.name,
  };
}
