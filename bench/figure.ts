import { cpus } from "node:os";
import process from "node:process";
import { median, quantile } from "./measure.ts";

/** What was measured, as often as it was. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
  /** The same by the simplest means that could do it, measured in the same run. Absent: there is none. */
  readonly floors?: readonly number[];
  /** Processor time of one turn over all processes of Reeve, NATS included, in milliseconds. */
  readonly cpuMs?: number;
  /** What it is to be at most. */
  readonly aim?: Aim;
}

export type Aim = Readonly<Partial<Record<"median" | "p95" | "ratio", number>>>;

/** A named group of figures. Whatever it starts has ended when it has. */
export interface Benchmark {
  readonly name: string;
  /** How long it may take. Absent: a minute. One that may take longer is only measured when it is asked for by name. */
  readonly maxMs?: number;
  /** Yields each figure as soon as it is known. */
  measure(signal: AbortSignal): AsyncIterable<Figure>;
}

/** A figure in one line. */
export function lineOf(figure: Figure): string {
  const { name, unit, min, median, p95, max, aims } = summaryOf(figure);
  const [low, middle, high, most] = [min, median, p95, max].map(shown);
  return `${name}: ${low} / ${middle} / ${high} / ${most} ${unit}${aims === "" ? "" : ` (${aims})`}`;
}

/** All figures as a table. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(summaryOf).map(({ name, unit, min, median, p95, max, ...rest }) => {
    const { cpuMs, floor, ratio, aims } = rest;
    const of = [min, median, p95, max, cpuMs, floor].map((value) => optional(value));
    return `| ${name} | ${unit} | ${of.join(" | ")} | ${optional(ratio, "×")} | ${aims} |`;
  });
  return [
    `${cpus().length} × ${cpus()[0]?.model ?? "?"}, Node ${process.version}`,
    "",
    "| figure | unit | min | median | p95 | max | processor ms | floor | ratio | aim |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

/** All figures as JSON. */
export function jsonOf(figures: readonly Figure[]): string {
  const measured = figures.map(summaryOf);
  return JSON.stringify(
    { node: process.version, processors: cpus().length, figures: measured },
    null,
    2,
  );
}

/** Other work on the machine only ever makes a figure worse: floor and ratio are those of the best turns. */
function summaryOf({ name, unit, values, floors, cpuMs, aim = {} }: Figure) {
  const best = (of: readonly number[]) => (unit.endsWith("/s") ? Math.max(...of) : Math.min(...of));
  const floor = floors === undefined ? undefined : best(floors);
  const of = {
    median: median(values),
    p95: quantile(values, 0.95),
    // A difference that drowned in other work is nothing to compare with.
    ratio: floor === undefined || floor <= 0 ? undefined : best(values) / floor,
  };
  const min = Math.min(...values);
  const max = Math.max(...values);
  return { name, unit, times: values.length, min, ...of, max, cpuMs, floor, aims: heldTo(aim, of) };
}

/** Each aim, and whether it was reached. */
function heldTo(aim: Aim, reached: Readonly<Record<keyof Aim, number | undefined>>): string {
  const told = (["median", "p95", "ratio"] as const).flatMap((what) => {
    const [most, is] = [aim[what], reached[what]];
    if (most === undefined || is === undefined) return [];
    return [`${what} ≤ ${most}: ${is <= most ? "yes" : "no"}`];
  });
  return told.join(", ");
}

function optional(value: number | undefined, unit = ""): string {
  return value === undefined ? "" : `${shown(value)}${unit}`;
}

function shown(value: number): string {
  if (Math.abs(value) < 100) return value.toPrecision(3);
  return Math.round(value).toLocaleString("en-US");
}
