import type { CelEnv, CelFunc } from "@bufbuild/cel";
import { CelScalar, celEnv, celFunc, celList, isCelList, isCelMap } from "@bufbuild/cel";
import { regexMatcher } from "../permission/text-matchers.ts";
import type { WorkBudget } from "../schema/work-budget.ts";
import type { Expression } from "./filter-problem.ts";

/** Functions that only a rewritten expression calls: a name with @ cannot be written. */
const spendName = "@spend";
const tickName = "@tick";
const copyName = "@copy";
/** They read single members, and not the whole value. */
const constantWork = new Set(["_&&_", "_||_", "_?_:_", "_[_]", "@not_strictly_false", "!_"]);

/**
 * Returns the expression so that its evaluation spends work: for each argument of a function its size, and for each element of a
 * searched list the number of steps that the search takes for it. With `meteredEnv`, the evaluation ends soon after its budget.
 */
export function metered(expression: Expression): Expression {
  const { exprKind } = expression;
  switch (exprKind.case) {
    case "callExpr": {
      const { target, args, ...call } = exprKind.value;
      const read = constantWork.has(call.function) ? metered : spent;
      const value = { ...call, args: args.map(read), ...(target && { target: read(target) }) };
      return { ...expression, exprKind: { case: "callExpr", value } };
    }
    case "selectExpr": {
      const { operand, ...select } = exprKind.value;
      const value = { ...select, ...(operand && { operand: metered(operand) }) };
      return { ...expression, exprKind: { case: "selectExpr", value } };
    }
    case "listExpr": {
      const value = { ...exprKind.value, elements: exprKind.value.elements.map(metered) };
      return { ...expression, exprKind: { case: "listExpr", value } };
    }
    case "structExpr": {
      const entries = exprKind.value.entries.map((entry) => ({
        ...entry,
        ...(entry.keyKind.case === "mapKey" && {
          keyKind: { ...entry.keyKind, value: metered(entry.keyKind.value) },
        }),
        ...(entry.value && { value: metered(entry.value) }),
      }));
      return {
        ...expression,
        exprKind: { case: "structExpr", value: { ...exprKind.value, entries } },
      };
    }
    case "comprehensionExpr": {
      const { iterRange, loopCondition, loopStep, result, ...rest } = exprKind.value;
      const steps = sizeOf(loopCondition) + sizeOf(loopStep);
      const buildsList = rest.accuInit?.exprKind.case === "listExpr";
      const value = {
        ...rest,
        ...(iterRange && { iterRange: spent(iterRange) }),
        ...(loopCondition && {
          loopCondition: call("_&&_", [call(tickName, [number(steps)]), metered(loopCondition)]),
        }),
        ...(loopStep && {
          loopStep: buildsList ? call(copyName, [metered(loopStep)]) : metered(loopStep),
        }),
        ...(result && { result: metered(result) }),
      };
      return { ...expression, exprKind: { case: "comprehensionExpr", value } };
    }
    case "constExpr":
    case "identExpr":
    case undefined:
      return expression;
  }
}

/** Returns an environment in which metered expressions spend `work`. Functions fail once it is used up. */
export function meteredEnv(work: WorkBudget): CelEnv {
  const spend: CelFunc[] = [
    celFunc(spendName, [CelScalar.DYN], CelScalar.DYN, (value) => {
      spendSize(value, work);
      return value;
    }),
    // A list that grows by one element at a time is a chain of lists: to read it takes the square of its size.
    celFunc(copyName, [CelScalar.DYN], CelScalar.DYN, (value) => {
      spendSize(value, work);
      return isCelList(value) ? celList([...value]) : value;
    }),
    celFunc(tickName, [CelScalar.INT], CelScalar.BOOL, (steps) => {
      work.spend(Number(steps));
      return true;
    }),
  ];
  return celEnv({ funcs: spend, re2: { compile: (pattern) => linearMatcher(pattern, work) } });
}

/** Compiles as permission rules do, so that the cost of a match is known. */
function linearMatcher(pattern: string, work: WorkBudget): { test(text: string): boolean } {
  const { matcher, problem } = regexMatcher(pattern);
  if (matcher === undefined) throw new Error(problem);
  return {
    test(text) {
      work.spend(matcher.cost * text.length);
      return matcher.matches(text);
    },
  };
}

/** Spends one unit for each value and character. Stops at the end of the budget, whatever the size is. */
function spendSize(value: unknown, work: WorkBudget): void {
  work.spend(1);
  if (typeof value === "string") work.spend(value.length);
  else if (value instanceof Uint8Array) work.spend(value.length);
  else if (isCelList(value)) for (const each of value) spendSize(each, work);
  else if (isCelMap(value)) {
    for (const [key, each] of value) {
      spendSize(key, work);
      spendSize(each, work);
    }
  }
}

/** Returns an expression that spends the size of another one, and has its value. */
function spent(expression: Expression): Expression {
  // A constant costs at most the length of the filter.
  const isFree = expression.exprKind.case === "constExpr";
  return isFree ? expression : call(spendName, [metered(expression)]);
}

function call(name: string, args: readonly Expression[]): Expression {
  return {
    $typeName: "cel.expr.Expr",
    id: 0n,
    exprKind: {
      case: "callExpr",
      value: { $typeName: "cel.expr.Expr.Call", function: name, args: [...args] },
    },
  };
}

function number(value: number): Expression {
  const constant = { case: "int64Value", value: BigInt(value) } as const;
  const kind = { $typeName: "cel.expr.Constant", constantKind: constant } as const;
  return { $typeName: "cel.expr.Expr", id: 0n, exprKind: { case: "constExpr", value: kind } };
}

/** Returns how many expressions an expression has. */
function sizeOf(expression: Expression | undefined): number {
  if (expression === undefined) return 0;
  const { exprKind } = expression;
  const sum = (parts: readonly (Expression | undefined)[]) =>
    parts.reduce((total, part) => total + sizeOf(part), 1);
  switch (exprKind.case) {
    case "callExpr":
      return sum([exprKind.value.target, ...exprKind.value.args]);
    case "selectExpr":
      return sum([exprKind.value.operand]);
    case "listExpr":
      return sum(exprKind.value.elements);
    case "structExpr":
      return sum(
        exprKind.value.entries.flatMap(({ keyKind, value }) => [
          value,
          keyKind.case === "mapKey" ? keyKind.value : undefined,
        ]),
      );
    case "comprehensionExpr": {
      const { iterRange, loopCondition, loopStep, result } = exprKind.value;
      return sum([iterRange, loopCondition, loopStep, result]);
    }
    case "constExpr":
    case "identExpr":
    case undefined:
      return 1;
  }
}
