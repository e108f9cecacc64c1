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

/** Returns the text of all models of a run. */
export function textOf(events: readonly RunEvent[]): string {
  return events.map(({ event }) => (event.case === "text" ? event.value.text : "")).join("");
}
