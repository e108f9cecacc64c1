import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import type { InheritedState, RunCreated, RunEvent, Todo } from "@reeve/contracts/run";
import { InheritedStateSchema, RunCreatedSchema, RunOriginSchema } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import { HistoryMessageSchema } from "@reeve/contracts/thread";
import { workspaceIdOf } from "@reeve/contracts/workspace-id";
import type { RunHead } from "../head/run-head.ts";
import { fitHistory } from "../thread/history/fit-history.ts";
import { turnHistory } from "../thread/history/turn-history.ts";

const unfinished =
  "the run failed before this call had a result; its outcome is unknown: look at its effect before you call again";

/** Bytes of the first event of a run: its batch fits in a message of the bus, and in the log of a thread. */
const maxCreatedBytes = 900 * 1024;

/**
 * Returns the first fact of a run that continues a failed one from its last good state: the conversation without an answer
 * that failed or was incomplete, the plan, the todos, and the shared memory. A call without a result gets one that says so.
 * The oldest results are cut where the fact would be too large.
 */
export function retryOf(
  { runId, pendingMessages }: Pick<RunHead, "runId" | "pendingMessages">,
  created: RunCreated,
  events: readonly RunEvent[],
): RunCreated {
  const before = created.inherited;
  // The first message is the input, which the run has as its own.
  const own = withoutLastAnswer(turnHistory(events, unfinished).slice(1));
  const submitted = [...pendingMessages.values()].map(({ message }) => user(message?.text ?? ""));
  const messages = [...(before?.messages ?? []), ...own, ...submitted];
  const inherited = create(InheritedStateSchema, {
    ...stateIn(events, before),
    runIds: [...(before?.runIds ?? []), runId],
  });
  const derived: RunCreated = {
    ...created,
    origin: create(RunOriginSchema, { runId, sequence: lastGood(events) }),
    inherited,
    workspaceId: workspaceIdOf(runId, created),
  };
  const room = maxCreatedBytes - toBinary(RunCreatedSchema, derived).length;
  inherited.messages = [...fitHistory(messages, room)];
  return derived;
}

/** The run answers again: an answer at the end was filtered, cut off, or broken. */
function withoutLastAnswer(messages: readonly HistoryMessage[]): readonly HistoryMessage[] {
  const end = messages.findLastIndex(({ message }) => message.case !== "assistant");
  return messages.slice(0, end + 1);
}

type State = Pick<
  MessageInitShape<typeof InheritedStateSchema> & object,
  "plan" | "todos" | "memory" | "artifactIds"
>;

/** Returns the state outside of the conversation after `events`, which began with `before`. */
function stateIn(events: readonly RunEvent[], before: InheritedState | undefined): State {
  let plan = before?.plan ?? [];
  let todos: readonly Todo[] = before?.todos ?? [];
  const memory = { ...before?.memory };
  const artifactIds = new Set(before?.artifactIds);
  for (const { event } of events) {
    if (event.case === "plan") plan = event.value.steps;
    if (event.case === "todosChanged") ({ todos } = event.value);
    if (event.case === "memoryWritten") memory[event.value.key] = event.value.value;
    if (event.case !== "toolResult") continue;
    const artifactId = event.value.result?.metadata?.offloadedArtifactId ?? "";
    if (artifactId !== "") artifactIds.add(artifactId);
  }
  return { plan, todos: [...todos], memory, artifactIds: [...artifactIds] };
}

const inheritedKinds: ReadonlySet<unknown> = new Set([
  "runCreated",
  "messageSubmitted",
  "toolResult",
  "plan",
]);

/** Returns the sequence of the last event that is a part of the inherited state. */
function lastGood(events: readonly RunEvent[]): number {
  const last = events.findLast(({ event }) => inheritedKinds.has(event.case));
  return last?.sequence ?? 1;
}

function user(text: string): HistoryMessage {
  return create(HistoryMessageSchema, { message: { case: "user", value: { text } } });
}
