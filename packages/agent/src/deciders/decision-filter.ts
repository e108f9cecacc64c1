import type { JsonObject } from "@bufbuild/protobuf";
import { celEnv, isCelError, parse, plan } from "@bufbuild/cel";

/** What a filter sees of a call. */
export interface FilteredCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly agent: { readonly id: string; readonly revision: number };
  readonly requester: { readonly subject: string; readonly roles: readonly string[] };
  readonly channel: string;
}

const variables = ["tool", "arguments", "agent", "requester", "channel"];
/** With comprehensions that are not nested, this bounds the time that a filter takes. */
const maxValues = 2_000;
const maxCharacters = 65_536;
const maxDepth = 50;

/** Returns what is wrong with a filter, or undefined. A filter without a problem may still fail for a call. */
export function filterProblem(filter: string): string | undefined {
  try {
    return expressionProblem(parse(filter).expr);
  } catch (error) {
    return `is not an expression: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Whether a filter is true for a call. False if it fails, is no boolean, or if the arguments are too large to search. */
export function filterApplies(filter: string, call: FilteredCall): boolean {
  if (filter === "") return true;
  if (filterProblem(filter) !== undefined || isTooLarge(call.arguments)) return false;
  try {
    const bindings = { ...call, agent: { id: call.agent.id, revision: call.agent.revision } };
    const result = plan(celEnv(), parse(filter))(structuredClone(bindings));
    return !isCelError(result) && result === true;
  } catch {
    return false;
  }
}

type Expression = ReturnType<typeof parse>["expr"];

function expressionProblem(
  expression: Expression | undefined,
  bound: ReadonlySet<string> = new Set(variables),
  depth = 0,
  isNested = false,
): string | undefined {
  if (expression === undefined) return undefined;
  if (depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
  const inside = (parts: readonly (Expression | undefined)[], names = bound, nested = isNested) =>
    firstProblem(parts, (part) => expressionProblem(part, names, depth + 1, nested));
  const { exprKind } = expression;
  switch (exprKind.case) {
    case "identExpr": {
      const { name } = exprKind.value;
      return bound.has(name)
        ? undefined
        : `has the unknown name ${name}; there are: ${variables.join(", ")}`;
    }
    case "selectExpr":
      return inside([exprKind.value.operand]);
    case "callExpr":
      return inside([exprKind.value.target, ...exprKind.value.args]);
    case "listExpr":
      return inside(exprKind.value.elements);
    case "structExpr": {
      if (exprKind.value.messageName !== "") return "creates a message, which is not supported";
      const { entries } = exprKind.value;
      return inside(
        entries.flatMap(({ keyKind, value }) => [
          value,
          keyKind.case === "mapKey" ? keyKind.value : undefined,
        ]),
      );
    }
    case "comprehensionExpr": {
      if (isNested) return "searches a list within the search of another, which is not supported";
      const { iterRange, accuInit, loopCondition, loopStep, result, ...names } = exprKind.value;
      const further = [names.iterVar, names.iterVar2, names.accuVar];
      const inner = new Set([...bound, ...further]);
      return (
        inside([iterRange, accuInit], bound, true) ??
        inside([loopCondition, loopStep, result], inner, true)
      );
    }
    case "constExpr":
    case undefined:
      return undefined;
  }
}

function firstProblem<Part>(
  parts: readonly Part[],
  problemOf: (part: Part) => string | undefined,
): string | undefined {
  for (const part of parts) {
    const problem = problemOf(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isTooLarge(args: JsonObject): boolean {
  let values = 0;
  const text = JSON.stringify(args, (_, value: unknown) => {
    values++;
    return value;
  });
  return values > maxValues || text.length > maxCharacters;
}
