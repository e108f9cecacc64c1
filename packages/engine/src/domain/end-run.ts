import { IncompleteReason, RunStatus } from "@reeve/contracts/run";
import { cancelledGenerations, withCancelledGenerations } from "@reeve/run/media/generations";
import { costSummaryOf } from "@reeve/run/head/ledger";
import { storedTreeOf } from "@reeve/run/tree/fit-tree";
import type { Fact, Scope } from "./state/fact.ts";
import { fact, rootScope } from "./state/fact.ts";
import { incompleteMessage, incompleteReason } from "./incomplete-answer.ts";
import type { RunState } from "./state/run-state.ts";
import { rootOf } from "./state/run-state.ts";

/**
 * Returns the facts that end a run, without those that the log already holds: the generations of media that it cancels, cost, tree, and
 * terminal status.
 */
export function endRun(state: RunState, status: RunStatus, message = ""): readonly Fact[] {
  const { head, ending } = state;
  const reason =
    status === RunStatus.CANCELLED ? IncompleteReason.UNSPECIFIED : incompleteReason(rootOf(state));
  const value = {
    status,
    message: message === "" ? incompleteMessage(reason) : message,
    incompleteReason: reason,
  };
  return [
    ...(ending?.hasCost === true ? [] : costFacts(state)),
    ...(ending?.hasTree === true
      ? []
      : [fact(rootScope, { case: "treeStored", value: { tree: storedTreeOf(head.tree) } })]),
    fact(rootScope, { case: "status", value }),
  ];
}

function costFacts({ head: { generations, spent } }: RunState): readonly Fact[] {
  const cost = costSummaryOf(withCancelledGenerations(spent, generations));
  return [
    ...cancelledGenerations(generations).map((value) =>
      fact(rootScope, { case: "mediaCallEnded", value }),
    ),
    fact(rootScope, { case: "costSummary", value: cost }),
  ];
}

/** Returns the facts that end a run with an error: the error, cost, tree, and terminal status. */
export function failRun(
  state: RunState,
  scope: Scope,
  reason: string,
  message: string,
  cause = "",
): readonly Fact[] {
  return [
    fact(scope, { case: "error", value: { reason, message, cause } }),
    ...endRun(state, RunStatus.ERROR, message),
  ];
}
