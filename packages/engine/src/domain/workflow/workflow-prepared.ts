import type { RunCreated } from "@reeve/contracts/run";
import type { Fact } from "../state/fact.ts";
import { fact, rootScope } from "../state/fact.ts";

/** Returns the fact that agents of a run have workflows, which precedes its preparation. None if no agent has one. */
export function workflowPrepared({
  spec,
  delegates,
}: Pick<RunCreated, "spec" | "delegates">): readonly Fact[] {
  const own = spec?.workflow !== undefined;
  const delegateIds = delegates.flatMap((each) =>
    each.spec?.workflow === undefined ? [] : [each.agentId],
  );
  if (!own && delegateIds.length === 0) return [];
  return [fact(rootScope, { case: "workflowPrepared", value: { own, delegateIds } })];
}
