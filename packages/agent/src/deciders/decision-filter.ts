import type { JsonObject } from "@bufbuild/protobuf";
import type { CelInput } from "@bufbuild/cel";
import { isCelError, parse, plan } from "@bufbuild/cel";
import { WorkBudget } from "../schema/work-budget.ts";
import { filterProblem } from "./filter-problem.ts";
import { metered, meteredEnv } from "./metered-expression.ts";

/** What a filter sees of a call. */
export interface FilteredCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly agent: { readonly id: string; readonly revision: number };
  readonly requester: { readonly subject: string; readonly roles: readonly string[] };
  readonly channel: string;
}

/** The largest arguments that are searched. */
const maxValues = 2_000;
const maxCharacters = 65_536;
/** The steps of all filters of one turn at most: about a quarter of a second of a processor in the worst case. */
export const maxFilterWork = 1_000_000;

/**
 * Returns which of the filters are true for a call, each at its position. A filter is false if it fails, is no boolean, or if the
 * arguments are too large to search. All filters share `work`: those that it does not suffice for are false.
 */
export function applyingFilters(
  filters: readonly string[],
  call: FilteredCall,
  work: WorkBudget = new WorkBudget(maxFilterWork),
): readonly boolean[] {
  if (filters.every((filter) => filter === "")) return filters.map(() => true);
  if (isTooLarge(call.arguments)) return filters.map((filter) => filter === "");
  const { tool, requester, channel, agent } = call;
  const bindings = structuredClone({
    tool,
    arguments: call.arguments,
    agent: { id: agent.id, revision: agent.revision },
    requester,
    channel,
  });
  return filters.map((filter) => filter === "" || applies(filter, bindings, work));
}

/** Whether a filter is true for a call. */
export function filterApplies(filter: string, call: FilteredCall, work?: WorkBudget): boolean {
  return applyingFilters([filter], call, work)[0] ?? false;
}

function applies(filter: string, bindings: Record<string, CelInput>, work: WorkBudget): boolean {
  if (filterProblem(filter) !== undefined) return false;
  const { expr } = parse(filter);
  if (expr === undefined) return false;
  try {
    const result = plan(meteredEnv(work), metered(expr))(bindings);
    // A failed function does not always fail the expression: `||` may have another true side.
    return !work.isExceeded && !isCelError(result) && result === true;
  } catch {
    return false;
  }
}

function isTooLarge(args: JsonObject): boolean {
  let values = 0;
  const text = JSON.stringify(args, (_, value: unknown) => {
    values++;
    return value;
  });
  return values > maxValues || text.length > maxCharacters;
}
