import { Role } from "@reeve/contracts/thread";
import type { PromptMessage } from "./model.ts";
import type { Call, Entry, RunState } from "./run-state.ts";

/**
 * The conversation that the model reads: what the client gave, the input, then each turn verbatim with the results of its
 * calls in the order of the calls.
 */
export function promptFor({ created, frame }: RunState): readonly PromptMessage[] {
  if (created === undefined) return [];
  const given = created.messages.map(({ role, text }): PromptMessage => ({
    role: role === Role.ASSISTANT ? "assistant" : "user",
    text,
  }));
  return [...given, { role: "user", text: created.input }, ...frame.entries.flatMap(messagesOf)];
}

function messagesOf(entry: Entry): readonly PromptMessage[] {
  if (entry.kind === "user") return [{ role: "user", text: entry.text }];
  const messageJson = decoder.decode(entry.turn.messageJson);
  const results = entry.calls.map((call, index): PromptMessage =>
    resultMessage(call, entry.turn.providerCallIds[index] ?? call.call.callId),
  );
  return [{ role: "verbatim", messageJson }, ...results];
}

function resultMessage({ call, result }: Call, providerCallId: string): PromptMessage {
  return {
    role: "tool",
    providerCallId,
    name: call.name,
    content: result?.content ?? "no result is known",
    isError: result?.isError ?? true,
  };
}

const decoder = new TextDecoder();
