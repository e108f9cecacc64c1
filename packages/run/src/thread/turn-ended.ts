import type { MessageInitShape } from "@bufbuild/protobuf";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { treeOf } from "../tree/execution-tree.ts";
import { fitTree } from "../tree/fit-tree.ts";
import type { RunEvent } from "@reeve/contracts/run";
import { IncompleteReason, RunStatus } from "@reeve/contracts/run";
import type { HistoryMessage, TurnEnded, TurnEndedSchema } from "@reeve/contracts/thread";
import { TurnIncompleteReason, TurnOutcome } from "@reeve/contracts/thread";
import { costSummaryOf } from "../head/ledger.ts";
import { newerVersion } from "../head/newer-version.ts";
import type { RunHead } from "../head/run-head.ts";
import { emptyHead, foldHead } from "../head/run-head.ts";
import { outputOf } from "../head/run-of.ts";
import { isTerminal } from "../head/run-status.ts";
import { isRequestRefused, messagesWithoutFiles } from "../parts/without-files.ts";
import { fitHistory } from "./history/fit-history.ts";
import { turnHistory } from "./history/turn-history.ts";
import { withoutMemories } from "./history/without-memories.ts";

/** Maximum sizes of the parts in bytes; their sum is well below the largest message of the bus. */
const maxBytes = { messages: 512 * 1024, output: 128 * 1024, tree: 128 * 1024, error: 4_096 };

/**
 * Returns what an ended run leaves to its thread. `known` is the head after all of `events`, if the caller has it. Every
 * writer gets the same result, and it fits the log of the thread. It has no memories of a user.
 * Throws a Failure with the reason NEWER_VERSION if the run has an event that may belong to the conversation and that only
 * a newer version knows.
 */
export function turnEnded(
  runId: string,
  events: readonly RunEvent[],
  known?: RunHead,
): MessageInitShape<typeof TurnEndedSchema> {
  const own = untilEnd(events);
  const isKnown = known !== undefined && own.length === events.length;
  const head = isKnown ? known : foldHead(emptyHead, own);
  if (head.unknownEventSequence > 0) throw newerVersion(`run ${runId}`, head.unknownEventSequence);
  const isRefused = head.status === RunStatus.ERROR && isRequestRefused(own);
  return {
    runId,
    outcome: outcomes.get(head.status) ?? TurnOutcome.UNSPECIFIED,
    incompleteReason: incompleteReasons[head.incompleteReason] ?? TurnIncompleteReason.UNSPECIFIED,
    messages: [...fitHistory(withoutMemories(historyOf(own, isRefused)), maxBytes.messages)],
    ...outputFor(head),
    executionTree: fitTree(treeOf(head.tree), maxBytes.tree),
    cost: costSummaryOf(head.cost ?? head.spent),
    error: truncateToBytes(head.error?.message ?? "", maxBytes.error),
    contentRefused: isRefused,
  };
}

/** A file that a provider refuses would make each later turn of the thread fail too. */
function historyOf(events: readonly RunEvent[], isRefused: boolean): readonly HistoryMessage[] {
  const history = turnHistory(events);
  return isRefused ? messagesWithoutFiles(history) : history;
}

/** Returns the answer of a turn. A typed answer is JSON, of which a part would be none: one that does not fit is left out. */
function outputFor(head: RunHead): Partial<Pick<TurnEnded, "output" | "omittedOutputBytes">> {
  const output = outputOf(head);
  if (head.structured === undefined) return { output: truncateToBytes(output, maxBytes.output) };
  const bytes = new TextEncoder().encode(output).length;
  return bytes <= maxBytes.output ? { output } : { omittedOutputBytes: bytes };
}

/** Records that follow the terminal status are not part of the turn. */
function untilEnd(events: readonly RunEvent[]): readonly RunEvent[] {
  const end = events.findIndex(
    ({ event }) => event.case === "status" && isTerminal(event.value.status),
  );
  return end === -1 ? events : events.slice(0, end + 1);
}

/** A reason that only a newer version knows has no entry. */
const incompleteReasons: Readonly<Record<IncompleteReason, TurnIncompleteReason | undefined>> = {
  [IncompleteReason.UNSPECIFIED]: TurnIncompleteReason.UNSPECIFIED,
  [IncompleteReason.TRUNCATED]: TurnIncompleteReason.TRUNCATED,
  [IncompleteReason.FILTERED]: TurnIncompleteReason.FILTERED,
};

const outcomes: ReadonlyMap<RunStatus, TurnOutcome> = new Map([
  [RunStatus.COMPLETED, TurnOutcome.COMPLETED],
  [RunStatus.ERROR, TurnOutcome.ERROR],
  [RunStatus.CANCELLED, TurnOutcome.CANCELLED],
]);
