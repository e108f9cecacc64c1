import { cpus } from "node:os";
import process from "node:process";
import { median, quantile } from "./measure.ts";

/** A measured quantity with all its values. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
  /** The same quantity for the simplest implementation, measured in the same run. Absent: there is none. */
  readonly floors?: readonly number[];
  /** CPU time per repetition over all Reeve processes, with NATS, in milliseconds. */
  readonly cpuMs?: number;
  /** The maximum that the figure should have. */
  readonly aim?: Aim;
}

export type Aim = Readonly<Partial<Record<"median" | "p95" | "ratio", number>>>;

/** A named group of figures. It ends everything that it starts. */
export interface Benchmark {
  readonly name: string;
  /** The maximum duration. Absent: a minute. A benchmark with a longer one runs only if it is selected by name. */
  readonly maxMs?: number;
  /** Yields each figure as soon as it is measured. */
  measure(signal: AbortSignal): AsyncIterable<Figure>;
}

/** Returns a figure as one line. */
export function lineOf(figure: Figure): string {
  const { name, unit, min, median, p95, max, aims } = summaryOf(figure);
  const [low, middle, high, highest] = [min, median, p95, max].map(shown);
  return `${name}: ${low} / ${middle} / ${high} / ${highest} ${unit}${aims === "" ? "" : ` (${aims})`}`;
}

/** Returns all figures as a Markdown table. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(summaryOf).map(({ name, unit, min, median, p95, max, ...rest }) => {
    const { cpuMs, floor, ratio, aims } = rest;
    const of = [min, median, p95, max, cpuMs, floor].map((value) => optional(value));
    return `| ${name} | ${unit} | ${of.join(" | ")} | ${optional(ratio, "×")} | ${aims} |`;
  });
  return [
    `${cpus().length} × ${cpus()[0]?.model ?? "?"}, Node ${process.version}`,
    "",
    "| figure | unit | min | median | p95 | max | CPU ms | floor | ratio | aim |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

/** Returns all figures as JSON. */
export function jsonOf(figures: readonly Figure[]): string {
  const measured = figures.map(summaryOf);
  return JSON.stringify(
    { node: process.version, processors: cpus().length, figures: measured },
    null,
    2,
  );
}

/** Other work on the machine only makes figures worse, so floor and ratio compare the best values. */
function summaryOf({ name, unit, values, floors, cpuMs, aim = {} }: Figure) {
  const best = (of: readonly number[]) => (unit.endsWith("/s") ? Math.max(...of) : Math.min(...of));
  const floor = floors === undefined ? undefined : best(floors);
  const of = {
    median: median(values),
    p95: quantile(values, 0.95),
    // A difference below the noise is no floor.
    ratio: floor === undefined || floor <= 0 ? undefined : best(values) / floor,
  };
  const min = Math.min(...values);
  const max = Math.max(...values);
  return { name, unit, times: values.length, min, ...of, max, cpuMs, floor, aims: heldTo(aim, of) };
}

/** Returns each aim, and whether it was reached. */
function heldTo(aim: Aim, reached: Readonly<Record<keyof Aim, number | undefined>>): string {
  const results = (["median", "p95", "ratio"] as const).flatMap((what) => {
    const [max, is] = [aim[what], reached[what]];
    if (max === undefined || is === undefined) return [];
    return [`${what} ≤ ${max}: ${is <= max ? "yes" : "no"}`];
  });
  return results.join(", ");
}

function optional(value: number | undefined, unit = ""): string {
  return value === undefined ? "" : `${shown(value)}${unit}`;
}

function shown(value: number): string {
  if (Math.abs(value) < 100) return value.toPrecision(3);
  return Math.round(value).toLocaleString("en-US");
}
