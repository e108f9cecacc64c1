import { applyingFilters } from "@reeve/agent/deciders/decision-filter";
import { filteredCall } from "@reeve/agent/deciders/filtered-call";
import type { Approval, Decision } from "@reeve/contracts/approval";
import type { RunHead } from "../../head/run-head.ts";
import type { Applies } from "./count-vote.ts";

/**
 * Returns which alternatives of an approval apply to its call as a decision would execute it. Their filters selected the call with the
 * arguments of the model, so that only edited arguments are checked.
 */
export function applyingTo(
  { call, alternatives }: Approval,
  { editedArguments }: Decision,
  { created }: Pick<RunHead, "created">,
): Applies {
  if (editedArguments === undefined || call === undefined) return () => true;
  const edited = filteredCall(created, { name: call.name, arguments: editedArguments });
  const filters = alternatives.map(({ filter }) => filter);
  const results = applyingFilters(filters, edited);
  return (alternative) => results[alternatives.indexOf(alternative)] ?? false;
}
