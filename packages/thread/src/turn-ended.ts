import type { MessageInitShape } from "@bufbuild/protobuf";
import { treeOf } from "@reeve/contracts/execution-tree";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import type { TurnEndedSchema } from "@reeve/contracts/thread";
import { TurnOutcome } from "@reeve/contracts/thread";
import { emptyHead, foldHead, outputOf } from "@reeve/log/run-head";
import { fitHistory } from "./fit-history.ts";
import { turnHistory } from "./turn-history.ts";

/** What a run that has ended leaves to its thread. */
export function turnEnded(
  runId: string,
  events: readonly RunEvent[],
): MessageInitShape<typeof TurnEndedSchema> {
  const head = foldHead(emptyHead, events);
  return {
    runId,
    outcome: outcomes.get(head.status) ?? TurnOutcome.UNSPECIFIED,
    messages: [...fitHistory(turnHistory(events))],
    output: outputOf(head),
    executionTree: treeOf(head.tree),
  };
}

const outcomes: ReadonlyMap<RunStatus, TurnOutcome> = new Map([
  [RunStatus.COMPLETED, TurnOutcome.COMPLETED],
  [RunStatus.ERROR, TurnOutcome.ERROR],
  [RunStatus.CANCELLED, TurnOutcome.CANCELLED],
]);
