import { create } from "@bufbuild/protobuf";
import type { ThreadMessage } from "@reeve/contracts/thread";
import { Role, ThreadMessageSchema } from "@reeve/contracts/thread";
import type { ThreadState, Turn } from "./thread-state.ts";

/** Returns the messages of a thread as people read them: the user's messages, and the agent's answers with their trees. */
export function threadMessages({ turns }: ThreadState): readonly ThreadMessage[] {
  return turns.flatMap(messagesOf);
}

function messagesOf({ runId, isStarted, ended, endedAt }: Turn): readonly ThreadMessage[] {
  if (ended === undefined || !isStarted) return [];
  const { messages, output, outcome, incompleteReason, executionTree, cost, error } = ended;
  const common = { runId, ...(endedAt && { time: endedAt }) };
  const said = messages.flatMap(({ message }) =>
    message.case === "user"
      ? [create(ThreadMessageSchema, { ...common, role: Role.USER, text: message.value.text })]
      : [],
  );
  const answer = create(ThreadMessageSchema, {
    ...common,
    role: Role.ASSISTANT,
    text: output,
    outcome,
    incompleteReason,
    error,
    ...(executionTree && { executionTree }),
    ...(cost && { cost }),
  });
  return [...said, answer];
}
