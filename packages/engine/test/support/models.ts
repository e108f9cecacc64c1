import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import type { RunEvent } from "@reeve/contracts/run";
import type { ModelFailure, ModelProvider } from "../../src/ports/model-provider.ts";

/** Creates a model that calls a tool in each of `rounds` turns, and then answers. */
export function countingModel(
  rounds: number,
  failures: ModelFailure[] = [],
  tool = "count",
): ModelProvider {
  return {
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    format: "test",
    async *stream({ messages }) {
      const failure = failures.shift();
      const taken = messages.filter(({ role }) => role === "verbatim").length;
      yield { kind: "text", text: `turn ${taken} ` };
      await new Promise(setImmediate);
      yield { kind: "text", text: "continues" };
      if (failure !== undefined) throw failure;
      const calls =
        taken < rounds ? [{ providerCallId: `p${taken}`, name: tool, argumentsText: "{}" }] : [];
      const finishReason = calls.length > 0 ? "tool_calls" : "stop";
      const turn = { messageJson: "{}", finishReason, calls, usage: undefined, model: "test" };
      yield { kind: "turn", turn };
    },
  };
}

/** Returns a model that calls `during` while it answers, before its turn has any effect. */
export function meanwhile(model: ModelProvider, during: () => void): ModelProvider {
  return {
    ...model,
    async *stream(request, signal) {
      during();
      yield* model.stream(request, signal);
    },
  };
}

/** Returns a model that makes these calls, one in each turn without results, and calls `during` while it answers. */
export function callingModel(
  calls: readonly (readonly [name: string, args: string])[],
  during: () => void,
): ModelProvider {
  const left = [...calls];
  const stream: ModelProvider["stream"] = async function* ({ messages }) {
    const isDone = messages.some(({ role }) => role === "tool");
    const call = isDone ? undefined : left.shift();
    yield { kind: "text", text: "done" };
    const [name = "", argumentsText = ""] = call ?? [];
    const made = call === undefined ? [] : [{ providerCallId: "p", name, argumentsText }];
    const finishReason = made.length > 0 ? "tool_calls" : "stop";
    const turn = { messageJson: "{}", finishReason, calls: made, usage: undefined, model: "test" };
    yield { kind: "turn", turn };
  };
  return meanwhile({ ...countingModel(0), stream }, during);
}

/** Returns the text of all models of a run. */
export function textOf(events: readonly RunEvent[]): string {
  return events.map(({ event }) => (event.case === "text" ? event.value.text : "")).join("");
}
