import type { RunCreated } from "@reeve/contracts/run";
import type { Fact } from "../state/fact.ts";
import { fact, rootScope } from "../state/fact.ts";

/**
 * Returns the facts that agents of a run have workflows, and that its own continues that of a failed run, which precede its preparation.
 * None if no agent has one.
 */
export function workflowPrepared({
  spec,
  delegates,
  inherited,
}: Pick<RunCreated, "spec" | "delegates" | "inherited">): readonly Fact[] {
  const own = spec?.workflow !== undefined;
  const delegateIds = delegates.flatMap((each) =>
    each.spec?.workflow === undefined ? [] : [each.agentId],
  );
  if (!own && delegateIds.length === 0) return [];
  const prepared = fact(rootScope, { case: "workflowPrepared", value: { own, delegateIds } });
  const runId = inherited?.runIds.at(-1);
  if (!own || runId === undefined) return [prepared];
  return [prepared, fact(rootScope, { case: "workflowContinued", value: { runId } })];
}
