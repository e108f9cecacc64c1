import { parse } from "@bufbuild/cel";
import { regexMatcher } from "../permission/text-matchers.ts";

/** The names that a filter may use. */
const variables = ["tool", "arguments", "agent", "requester", "channel"];
const maxDepth = 50;
/** The parser needs a piece of the stack for each, and how much the stack holds depends on the process. */
const maxOpenBrackets = 100;

/** An expression of a parsed filter. */
export type Expression = NonNullable<ReturnType<typeof parse>["expr"]>;

/** Where an expression is: what it may name, and whether a search of a list evaluates it. */
interface Place {
  readonly names: ReadonlySet<string>;
  readonly depth: number;
  readonly isSearched: boolean;
}

/** Returns what is wrong with a filter, or undefined. A filter without a problem may still fail for a call. */
export function filterProblem(filter: string): string | undefined {
  if (openBracketsIn(filter) > maxOpenBrackets) {
    return `has more than ${maxOpenBrackets} brackets within each other`;
  }
  try {
    const place = { names: new Set(variables), depth: 0, isSearched: false };
    return expressionProblem(parse(filter).expr, place);
  } catch (error) {
    const missing = lacksOperand(filter) ? "an operand is missing at its end: " : "";
    return `is not an expression: ${missing}${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Returns how many brackets are open at most, those in texts included. */
function openBracketsIn(filter: string): number {
  let [open, deepest] = [0, 0];
  for (const character of filter) {
    if ("([{".includes(character)) deepest = Math.max(deepest, ++open);
    else if (")]}".includes(character)) open--;
  }
  return deepest;
}

/** Whether a filter is an expression and an operator without its second operand, which the parser reports as unexpected. */
function lacksOperand(filter: string): boolean {
  const [operator] = /(?:&&|\|\||[<>=!]=|[<>+\-*/%]|\bin)\s*$/.exec(filter) ?? [];
  if (operator === undefined) return false;
  try {
    parse(filter.slice(0, -operator.length));
    return true;
  } catch {
    return false;
  }
}

function expressionProblem(expression: Expression | undefined, place: Place): string | undefined {
  if (expression === undefined) return undefined;
  if (place.depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
  const deeper = { ...place, depth: place.depth + 1 };
  const inside = (parts: readonly (Expression | undefined)[], of: Place = deeper) =>
    firstProblem(parts, (part) => expressionProblem(part, of));
  const { exprKind } = expression;
  switch (exprKind.case) {
    case "identExpr": {
      const { name } = exprKind.value;
      return place.names.has(name)
        ? undefined
        : `has the unknown name ${name}; there are: ${variables.join(", ")}`;
    }
    case "selectExpr":
      return inside([exprKind.value.operand]);
    case "callExpr": {
      const { target, args } = exprKind.value;
      const problem = exprKind.value.function === "matches" ? matchProblem(args, place) : undefined;
      return problem ?? inside([target, ...args]);
    }
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
      if (place.isSearched) {
        return "searches a list within the search of another, which is not supported";
      }
      const { iterRange, accuInit, loopCondition, loopStep, result, ...further } = exprKind.value;
      const bound = [further.iterVar, further.iterVar2, further.accuVar];
      const searched = { ...deeper, isSearched: true };
      return (
        inside([iterRange, accuInit], searched) ??
        inside([loopCondition, loopStep, result], {
          ...searched,
          names: new Set([...place.names, ...bound]),
        })
      );
    }
    case "constExpr":
    case undefined:
      return undefined;
  }
}

/** The pattern is known when the agent is saved, so that its cost is too; the argument is the last one, as function or method. */
function matchProblem(args: readonly Expression[], { isSearched }: Place): string | undefined {
  if (isSearched) return "uses matches within the search of a list, which is not supported";
  const kind = args.at(-1)?.exprKind;
  const constant = kind?.case === "constExpr" ? kind.value.constantKind : undefined;
  if (constant?.case !== "stringValue") {
    return "uses matches with a pattern that is not a text in quotes, which is not supported";
  }
  return regexMatcher(constant.value).problem;
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
