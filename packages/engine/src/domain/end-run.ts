import { IncompleteReason, RunStatus } from "@reeve/contracts/run";
import { costSummaryOf } from "@reeve/run/head/ledger";
import { storedTreeOf } from "@reeve/run/tree/fit-tree";
import type { Fact, Scope } from "./state/fact.ts";
import { fact, rootScope } from "./state/fact.ts";
import { incompleteMessage, incompleteReason } from "./incomplete-answer.ts";
import type { RunState } from "./state/run-state.ts";
import { rootOf } from "./state/run-state.ts";

/** Returns the facts that end a run, without those that the log already holds: cost, tree, and terminal status. */
export function endRun(state: RunState, status: RunStatus, message = ""): readonly Fact[] {
  const { head, ending } = state;
  const reason =
    status === RunStatus.CANCELLED ? IncompleteReason.UNSPECIFIED : incompleteReason(rootOf(state));
  const value = {
    status,
    message: message === "" ? incompleteMessage(reason) : message,
    incompleteReason: reason,
  };
  const cost = fact(rootScope, { case: "costSummary", value: costSummaryOf(head.spent) });
  return [
    ...(ending?.hasCost === true ? [] : [cost]),
    ...(ending?.hasTree === true
      ? []
      : [fact(rootScope, { case: "treeStored", value: { tree: storedTreeOf(head.tree) } })]),
    fact(rootScope, { case: "status", value }),
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
