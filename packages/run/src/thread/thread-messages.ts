import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ThreadMessage, TurnEnded } from "@reeve/contracts/thread";
import { Role, ThreadMessageSchema } from "@reeve/contracts/thread";

/**
 * Returns the messages of a turn as people read them: the user's messages, and the agent's answer with its tree. A turn that
 * never started left none.
 */
export function turnMessages(
  turn: TurnEnded,
  endedAt: Timestamp | undefined,
): readonly ThreadMessage[] {
  const { runId, messages, output, outcome, incompleteReason, executionTree, cost, error } = turn;
  if (messages.length === 0) return [];
  const common = { runId, ...(endedAt && { time: endedAt }) };
  const said = messages.flatMap(({ message }) => {
    if (message.case !== "user") return [];
    const { text, parts } = message.value;
    return [create(ThreadMessageSchema, { ...common, role: Role.USER, text, parts })];
  });
  const answer = create(ThreadMessageSchema, {
    ...common,
    role: Role.ASSISTANT,
    text: output,
    outcome,
    incompleteReason,
    omittedTextBytes: turn.omittedOutputBytes,
    error,
    ...(executionTree && { executionTree }),
    ...(cost && { cost }),
  });
  return [...said, answer];
}
