/** What came of the runs of one seed. */
export interface ChaosReport {
  readonly seed: number;
  readonly runs: number;
  readonly seconds: number;
  readonly completed: number;
  readonly cancelled: number;
  readonly events: number;
  readonly calls: number;
  /** Effects that the harness found in the world. */
  readonly effects: number;
  /** Calls whose outcome nobody knows, which the model was told. */
  readonly unknownOutcomes: number;
  /** Those of them to whose hosts nothing was done: the machine was too slow for them. */
  readonly falseAlarms: number;
  /** Claims of runs beyond the first. */
  readonly takeovers: number;
  /** How often the stream of a client broke or was left. */
  readonly interruptions: number;
  readonly longestPauseMs: number;
  /** What was done, to what, and how often. */
  readonly harm: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly harmDone: number;
  /** Everything that broke a promise; empty: nothing did. */
  readonly broken: readonly string[];
}

/** What came of a seed, in a line. */
export function lineOf(report: ChaosReport): string {
  const { seed, runs, completed, cancelled, seconds, calls, effects, unknownOutcomes } = report;
  return (
    `seed ${seed}: ${completed} completed + ${cancelled} cancelled of ${runs} runs in ${seconds} s, ` +
    `${report.harmDone} times harmed, ${report.takeovers} takeovers, ${calls} calls, ${effects} effects, ` +
    `${unknownOutcomes} outcomes unknown (${report.falseAlarms} of them by false alarms), ${report.interruptions} streams broken, ` +
    `longest pause ${(report.longestPauseMs / 1_000).toFixed(1)} s, ${report.broken.length} promises broken`
  );
}

/** What was done to the processes over all seeds, as a table in Markdown. */
export function harmTable(reports: readonly ChaosReport[]): string {
  const targets = new Set<string>();
  const rows = new Map<string, Map<string, number>>();
  for (const { harm } of reports) {
    for (const [what, counts] of Object.entries(harm)) {
      const row = rows.get(what) ?? new Map<string, number>();
      rows.set(what, row);
      for (const [target, count] of Object.entries(counts)) {
        const service = target.replace(/-\d+$/, "");
        targets.add(service);
        row.set(service, (row.get(service) ?? 0) + count);
      }
    }
  }
  const columns = [...targets].toSorted();
  return [
    line(["what was done", ...columns]),
    line(["---", ...columns.map(() => "---:")]),
    ...[...rows].map(([what, row]) =>
      line([what, ...columns.map((column) => String(row.get(column) ?? ""))]),
    ),
  ].join("\n");
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
