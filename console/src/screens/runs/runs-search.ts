import { RunStatus } from "@reeve/contracts/run";
import { listedStatuses, nameOfStatus } from "../../format/names.ts";

/** The filters of the list of runs, as the address has them. */
export interface RunsSearch {
  readonly status?: readonly string[];
  readonly agent?: string;
  readonly thread?: string;
  readonly user?: string;
  /** A label, `team`, or a label and its value, `team=blue`. */
  readonly label?: string;
  readonly text?: string;
  /** What the runs cost at least, in US dollars. */
  readonly cost?: number;
  /** How long ago the runs were started at most. */
  readonly since?: Since;
  /** Whether only runs of which a subtask failed are listed. */
  readonly parts?: "failed";
  /** Whether the most expensive runs are listed first. */
  readonly by?: "cost";
}

const sinceMs = {
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 604_800_000,
  "30d": 2_592_000_000,
} as const;

export type Since = keyof typeof sinceMs;

/** The times to choose from, shortest first. */
export const sinces: readonly Since[] = ["1h", "24h", "7d", "30d"];

const texts = ["agent", "thread", "user", "label", "text"] as const;

/** Reads the filters of an address or of a saved view, which a person may have written. */
export function readRunsSearch(search: Record<string, unknown>): RunsSearch {
  const given = texts.flatMap((name) => {
    const value = search[name];
    // An address may have a number where a person wrote digits.
    const text = typeof value === "number" ? String(value) : value;
    return typeof text === "string" && text !== "" ? [[name, text] as const] : [];
  });
  const { status, cost, since } = search;
  const written = Array.isArray(status) ? status : [status];
  const names = written.filter((name) => typeof name === "string" && name !== "").map(String);
  const dollars = typeof cost === "number" && Number.isFinite(cost) && cost > 0 ? cost : undefined;
  const chosen = sinces.find((each) => each === since);
  return {
    ...Object.fromEntries(given),
    ...(names.length > 0 && { status: names }),
    ...(dollars !== undefined && { cost: dollars }),
    ...(chosen && { since: chosen }),
    ...(search["parts"] === "failed" && { parts: "failed" as const }),
    ...(search["by"] === "cost" && { by: "cost" as const }),
  };
}

/** Returns how long ago the runs were started at most. Undefined: there is no limit. */
export function maxAgeMs({ since }: RunsSearch): number | undefined {
  return since && sinceMs[since];
}

/** Returns the statuses of the filter. A run that is starting is shown with those that are running. */
export function statusesOf({ status = [] }: RunsSearch): readonly RunStatus[] {
  const chosen = listedStatuses.filter((each) => status.includes(nameOfStatus(each).name));
  return chosen.includes(RunStatus.RUNNING) ? [...chosen, RunStatus.STARTING] : chosen;
}
