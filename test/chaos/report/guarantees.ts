import type { ChaosReport } from "./report.ts";
import { line } from "./report.ts";

type Sum = (figure: (report: ChaosReport) => number) => number;

/** The guarantees of docs/durability.md, and on what the checks of a report tested each. */
export const guarantees: readonly (readonly [string, (sum: Sum) => string])[] = [
  [
    "An accepted run reaches its end, whichever processes die",
    (sum) => `${sum(({ runs }) => runs)} runs, ${sum(({ takeovers }) => takeovers)} takeovers`,
  ],
  [
    "The log of a run has no gap and one terminal event, and clients see nothing after it",
    (sum) => `${sum(({ events }) => events)} events`,
  ],
  [
    "A client sees exactly what is stored: each event once and in order, across reconnections",
    (sum) => `${sum(({ interruptions }) => interruptions)} broken streams`,
  ],
  [
    "A tool call that has a result is never executed again",
    (sum) => `${sum(({ calls }) => calls)} calls, ${sum(({ effects }) => effects)} effects`,
  ],
  [
    "A tool call in progress is executed again only if its tool is idempotent, and at most twice",
    (sum) => `${sum(({ calls }) => calls)} journals of calls`,
  ],
  [
    "No call that needs an approval starts before it, and exactly one decision wins",
    (sum) => `${sum(({ approvals }) => approvals)} decisions`,
  ],
  [
    "A cancelled run shows nothing after `cancelled`, and its work in progress is ended",
    (sum) => `${sum(({ cancelled }) => cancelled)} cancelled runs, and empty queues`,
  ],
  [
    "Turns of a thread run one at a time, in the order of their acceptance",
    (sum) => `${sum(({ turns }) => turns)} turns`,
  ],
  [
    "A start, decision, or cancellation that is sent again counts once",
    (sum) =>
      `${sum(({ runs, approvals, cancelled }) => runs + approvals + cancelled)} requests, which clients repeat until they are answered`,
  ],
];

/** Returns on what each guarantee was tested, as a Markdown table. Whatever broke one is among the violations of its seed. */
export function guaranteeTable(reports: readonly ChaosReport[]): string {
  const sum: Sum = (figure) => reports.reduce((total, report) => total + figure(report), 0);
  return [
    line(["guarantee", "checked on"]),
    line(["---", "---"]),
    ...guarantees.map(([guarantee, checkedOn]) => line([guarantee, checkedOn(sum)])),
  ].join("\n");
}
