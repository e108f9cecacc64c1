import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ToolCallFactSchema } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { Fact } from "../domain/state/fact.ts";
import type { Effect } from "../domain/next-effects.ts";
import { answerOf } from "../domain/calls/questions/questions.ts";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { callKey } from "./call-tool.ts";

/** How many times the append is repeated when the toolhost is first. */
const maxAttempts = 50;

/** Appends the answer to a question of a call to the journal of the call, once. Does nothing when the call has ended. */
export async function* answerQuestion(
  state: RunState,
  { call, approval }: Extract<Effect, { kind: "answer_question" }>,
  { journal, clock }: Pick<RunPorts, "journal" | "clock">,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const key = callKey(state, call.call.callId);
  const value = answerOf(approval);
  const answer = create(ToolCallFactSchema, {
    time: timestampFromMs(clock.now()),
    fact: { case: "answer", value },
  });
  let tail = emptyTail;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const known = await journal.read(key, tail, signal);
    const isDone = known.events.some(
      ({ fact }) =>
        fact.case === "result" ||
        fact.case === "cancelled" ||
        (fact.case === "answer" && fact.value.questionId === value.questionId),
    );
    if (isDone) return;
    tail = known.tail;
    const outcome = await journal.append(key, tail, [answer], signal);
    if (outcome.kind === "appended") return yield [];
  }
  throw new Error(
    `call ${key.call} got no answer to its question: its toolhost wrote to the journal first in all ${maxAttempts} attempts`,
  );
}
