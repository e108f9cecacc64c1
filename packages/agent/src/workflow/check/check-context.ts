import { maxCompileCost } from "../../schema/compile-cost.ts";
import { suggestion } from "../../tools/catalog-filter.ts";
import type { TypesOfSchema } from "./type-fit.ts";
import { typeReader } from "./type-fit.ts";
import type { WorkflowContext } from "./workflow-context.ts";

/** What one check of a workflow works with. It bounds the work of the check, whatever the workflow is. */
export interface CheckContext extends WorkflowContext {
  /** Returns the end of a message about a name that does not exist, as `suggestion` does; for the first names only. */
  suggest(name: string, known: Iterable<string>): string;
  /** Takes the cost of compiling a schema. Returns whether the schemas of the workflow may still be compiled. */
  mayCompile(cost: number): boolean;
  /** Returns the types of a schema; unknown ones after the schemas of the workflow and its tools took too much work. */
  readonly typesOf: TypesOfSchema;
}

/** How many names are compared with those that exist. */
const maxSuggestions = 20;
/** How many schemas are read for their types. */
const maxTypeSteps = 50_000;

/** Returns the context of one check. */
export function checkContext(context: WorkflowContext): CheckContext {
  let suggestions = maxSuggestions;
  let cost = maxCompileCost;
  return {
    ...context,
    suggest: (name, known) => (suggestions-- > 0 ? suggestion(name, known) : ""),
    mayCompile: (more) => (cost -= more) >= 0,
    typesOf: typeReader(maxTypeSteps),
  };
}
