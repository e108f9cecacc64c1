import type { CaseResult, EvalResults } from "./run-eval.ts";

/** How a case differs from that of an earlier eval. */
export interface CaseChange {
  readonly id: string;
  readonly change: "regressed" | "fixed" | "new" | "gone";
  /** The graders that passed before and fail now, or the other way round. */
  readonly graders: readonly string[];
}

/** Returns the cases that changed since an earlier eval, in the order of the cases; those that are gone last. */
export function compareEvals(before: EvalResults, after: EvalResults): readonly CaseChange[] {
  const earlier = new Map(before.cases.map((each) => [each.id, each]));
  const later = new Set(after.cases.map(({ id }) => id));
  const changes = after.cases.flatMap((each) => changeOf(earlier.get(each.id), each) ?? []);
  const gone = before.cases.filter(({ id }) => !later.has(id));
  return [...changes, ...gone.map(({ id }) => ({ id, change: "gone" as const, graders: [] }))];
}

function changeOf(before: CaseResult | undefined, after: CaseResult): CaseChange | undefined {
  const { id, passed } = after;
  if (before === undefined) return { id, change: "new", graders: [] };
  if (before.passed === passed) return undefined;
  const known = new Map(before.grades.map((each) => [each.name, each.passed]));
  const graders = after.grades
    .filter((each) => each.passed === passed && known.get(each.name) !== passed)
    .map(({ name }) => name);
  return { id, change: passed ? "fixed" : "regressed", graders };
}
