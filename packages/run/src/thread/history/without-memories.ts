import { create } from "@bufbuild/protobuf";
import { longTermMemoryTools } from "@reeve/agent/tools/runtime-tools";
import { searchKnowledgeName } from "@reeve/agent/tools/search-knowledge";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema } from "@reeve/contracts/thread";

/** The tools whose results one user may read and another may not. */
const memoryTools = new Set([...longTermMemoryTools.map(({ name }) => name), searchKnowledgeName]);
/** Histories of every version have it. */
const placeholder = "[not kept in the thread: memories belong to one user]";
const passagePlaceholder = "[not kept in the thread: search again]";
/** Arguments have to stay JSON. */
const noArguments = "{}";

/**
 * Returns messages without what memory tools were given and returned: the runs of a thread may have several users, and
 * memories belong to one. Each call keeps its result, as models require.
 */
export function withoutMemories(messages: readonly HistoryMessage[]): readonly HistoryMessage[] {
  return messages.map((history) => (showsMemories(history) ? cleaned(history) : history));
}

/** Whether a message has what a memory tool was given or returned. */
export function showsMemories({ message }: HistoryMessage): boolean {
  switch (message.case) {
    case "assistant": {
      const { calls, messageJson } = message.value;
      const ofMemory = calls.filter(({ name }) => memoryTools.has(name));
      // The message of the provider repeats its calls.
      const isVerbatim = ofMemory.length > 0 && messageJson.length > 0;
      return isVerbatim || ofMemory.some(({ argumentsText }) => argumentsText !== noArguments);
    }
    case "toolResult":
      return (
        memoryTools.has(message.value.name) &&
        message.value.content !== placeholderOf(message.value.name)
      );
    case "user":
    case undefined:
      return false;
  }
  return false;
}

function cleaned(history: HistoryMessage): HistoryMessage {
  const { message } = history;
  switch (message.case) {
    case "assistant": {
      const { text, advisory, calls } = message.value;
      const value = {
        text,
        advisory,
        calls: calls.map((call) =>
          memoryTools.has(call.name) ? { ...call, argumentsText: noArguments } : call,
        ),
      };
      return create(HistoryMessageSchema, { message: { case: "assistant", value } });
    }
    case "toolResult": {
      const value = { ...message.value, content: placeholderOf(message.value.name) };
      return create(HistoryMessageSchema, { message: { case: "toolResult", value } });
    }
    case "user":
    case undefined:
      return history;
  }
  return history;
}

function placeholderOf(tool: string): string {
  return tool === searchKnowledgeName ? passagePlaceholder : placeholder;
}
