import { oneLine } from "../../render/plain-text.ts";
import { table } from "../../render/table.ts";
import type { CaseChange } from "./compare-evals.ts";
import type { CaseResult, EvalResults } from "./run-eval.ts";

/** Returns the results of an eval as a table, with a line that sums them up. */
export function renderResults({ cases }: EvalResults): string {
  const passed = cases.filter((each) => each.passed).length;
  const costs = cases.flatMap((each) => each.cost_usd ?? []);
  const total = costs.reduce((sum, each) => sum + each, 0);
  const cost = costs.length === 0 ? "" : `, $${total.toFixed(4)}`;
  const rows = cases.map((each) => [
    each.id,
    resultOf(each),
    `${(each.duration_ms / 1_000).toFixed(1)}s`,
    each.cost_usd === undefined ? "" : `$${each.cost_usd.toFixed(4)}`,
    each.run_id,
    oneLine(whyOf(each), 100),
  ]);
  const header = ["CASE", "RESULT", "TIME", "COST", "RUN", "WHY"];
  return `${table(header, rows)}${passed} of ${cases.length} passed${cost}\n`;
}

/** Returns how the cases changed since an earlier eval, one per line. */
export function renderChanges(changes: readonly CaseChange[]): string {
  if (changes.length === 0) return "no case changed since the baseline\n";
  const rows = changes.map(({ id, change, graders }) => [
    id,
    change,
    oneLine(graders.join("; "), 100),
  ]);
  return table(["CASE", "CHANGE", "GRADERS"], rows);
}

/** An answer that was not judged is no failure of the agent. */
function resultOf({ passed, grades }: CaseResult): string {
  if (passed) return "pass";
  const failed = grades.filter((each) => !each.passed);
  return failed.length > 0 && failed.every(({ error }) => error === true) ? "ERROR" : "FAIL";
}

function whyOf({ problem, grades }: CaseResult): string {
  const failed = grades
    .filter(({ passed }) => !passed)
    .map(({ name, detail }) => `${name}: ${detail}`);
  return [...(problem === "" ? [] : [problem]), ...failed].join("; ");
}
