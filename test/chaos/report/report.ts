/** The results of one seed. */
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
  /** Calls with an unknown outcome, reported to the model as such. */
  readonly unknownOutcomes: number;
  /** Unknown outcomes on hosts without a fault: the machine was too slow. */
  readonly falseAlarms: number;
  /** Claims of runs beyond the first. */
  readonly takeovers: number;
  /** The times of claims that followed no park, from the last event before each; see `takeoverPauses`. */
  readonly takeoverMs: readonly number[];
  /** The same, without the time during which NATS or Temporal was away, or no worker was there. */
  readonly takeoverWithWorkerMs: readonly number[];
  /** The number of decisions about approvals. */
  readonly approvals: number;
  /** The number of runs that were turns of threads. */
  readonly turns: number;
  /** How often clients' streams broke or clients left them. */
  readonly interruptions: number;
  readonly longestPauseMs: number;
  /** The longest pause, without the time during which the store did not answer. */
  readonly longestPauseWithStoreMs: number;
  /** The number of faults by kind and target. */
  readonly faults: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly faultCount: number;
  /** All violations of guarantees. */
  readonly violations: readonly string[];
}

/** Returns the summary of a seed in one line. */
export function lineOf(report: ChaosReport): string {
  const { seed, runs, completed, cancelled, seconds, calls, effects, unknownOutcomes } = report;
  return (
    `seed ${seed}: ${completed} completed + ${cancelled} cancelled of ${runs} runs in ${seconds} s, ` +
    `${report.faultCount} faults, ${report.takeovers} takeovers, ${calls} calls, ${effects} effects, ` +
    `${unknownOutcomes} unknown outcomes (${report.falseAlarms} false alarms), ${report.interruptions} broken streams, ` +
    `longest pause ${pauseOf(report)}, ${report.violations.length} violations`
  );
}

/** Returns the results of each seed, and of all, as a Markdown table. */
export function seedTable(reports: readonly ChaosReport[]): string {
  const counts = "seed completed cancelled seconds faults takeovers";
  const calls = [
    "calls",
    "effects",
    "outcomes unknown (false alarms)",
    "longest pause (with a store)",
  ];
  const takeovers = ["takeover p50 (with a worker)", "p95"];
  const columns = [...counts.split(" "), ...takeovers, ...calls, "guarantees broken"];
  const sum = (figure: (report: ChaosReport) => number) =>
    reports.reduce((total, report) => total + figure(report), 0);
  const all = {
    completed: sum(({ completed }) => completed),
    cancelled: sum(({ cancelled }) => cancelled),
    seconds: sum(({ seconds }) => seconds),
    faultCount: sum(({ faultCount }) => faultCount),
    takeovers: sum(({ takeovers }) => takeovers),
    takeoverMs: reports.flatMap(({ takeoverMs }) => takeoverMs),
    takeoverWithWorkerMs: reports.flatMap(({ takeoverWithWorkerMs: part }) => part),
    calls: sum(({ calls }) => calls),
    effects: sum(({ effects }) => effects),
    unknownOutcomes: sum(({ unknownOutcomes }) => unknownOutcomes),
    falseAlarms: sum(({ falseAlarms }) => falseAlarms),
    longestPauseMs: Math.max(0, ...reports.map(({ longestPauseMs }) => longestPauseMs)),
    longestPauseWithStoreMs: Math.max(
      0,
      ...reports.map(({ longestPauseWithStoreMs }) => longestPauseWithStoreMs),
    ),
    violations: reports.flatMap(({ violations }) => violations),
  };
  return [
    line(columns),
    line(["---", ...columns.slice(1).map(() => "---:")]),
    ...reports.map((report) => line([String(report.seed), ...cellsOf(report)])),
    line(["**all**", ...cellsOf(all)]),
  ].join("\n");
}

function cellsOf(
  report: Omit<
    ChaosReport,
    "seed" | "runs" | "events" | "interruptions" | "faults" | "approvals" | "turns"
  >,
) {
  const { completed, cancelled, seconds, faultCount, takeovers } = report;
  const takeover = (share: number) => {
    const all = quantile(report.takeoverMs, share);
    if (all === undefined) return "";
    return `${secondsOf(all)} (${secondsOf(quantile(report.takeoverWithWorkerMs, share))})`;
  };
  return [
    ...[completed, cancelled, seconds, faultCount, takeovers].map(String),
    ...[0.5, 0.95].map(takeover),
    ...[report.calls, report.effects].map(String),
    `${report.unknownOutcomes} (${report.falseAlarms})`,
    pauseOf(report),
    String(report.violations.length),
  ];
}

function pauseOf({
  longestPauseMs,
  longestPauseWithStoreMs,
}: Pick<ChaosReport, "longestPauseMs" | "longestPauseWithStoreMs">): string {
  return `${secondsOf(longestPauseMs)} (${secondsOf(longestPauseWithStoreMs)})`;
}

function secondsOf(ms: number | undefined): string {
  return ms === undefined ? "" : `${(ms / 1_000).toFixed(1)} s`;
}

function quantile(values: readonly number[], share: number): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];
}

/** Returns the number of faults over all seeds as a Markdown table. */
export function faultTable(reports: readonly ChaosReport[]): string {
  const targets = new Set<string>();
  const rows = new Map<string, Map<string, number>>();
  for (const { faults } of reports) {
    for (const [what, counts] of Object.entries(faults)) {
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
    line(["fault", ...columns]),
    line(["---", ...columns.map(() => "---:")]),
    ...[...rows].map(([what, row]) =>
      line([what, ...columns.map((column) => String(row.get(column) ?? ""))]),
    ),
  ].join("\n");
}

/** Returns a row of a Markdown table. */
export function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
