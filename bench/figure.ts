import { cpus } from "node:os";
import process from "node:process";
import { median } from "./measure.ts";

/** What was measured, as often as it was. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
  /** The same by the simplest means that could do it, measured in the same run. Absent: there is none. */
  readonly floors?: readonly number[];
  /** Processor time of one turn over all processes of Reeve, NATS included, in milliseconds. */
  readonly cpuMs?: number;
}

/** A named group of figures. Whatever it starts has ended when it has. */
export interface Benchmark {
  readonly name: string;
  /** Yields each figure as soon as it is known. */
  measure(signal: AbortSignal): AsyncIterable<Figure>;
}

/** A figure in one line. */
export function lineOf(figure: Figure): string {
  const { name, unit, min, median, max } = summaryOf(figure);
  return `${name}: ${shown(min)} / ${shown(median)} / ${shown(max)} ${unit}`;
}

/** All figures as a table. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(summaryOf).map(({ name, unit, min, median, max, ...rest }) => {
    const { cpuMs, floor, ratio } = rest;
    const of = [min, median, max, cpuMs, floor].map((value) => optional(value));
    return `| ${name} | ${unit} | ${of.join(" | ")} | ${optional(ratio, "×")} |`;
  });
  return [
    `${cpus().length} × ${cpus()[0]?.model ?? "?"}, Node ${process.version}`,
    "",
    "| figure | unit | min | median | max | processor ms | floor | ratio |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
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
function summaryOf({ name, unit, values, floors, cpuMs }: Figure) {
  const best = (of: readonly number[]) => (unit.endsWith("/s") ? Math.max(...of) : Math.min(...of));
  const floor = floors === undefined ? undefined : best(floors);
  return {
    name,
    unit,
    times: values.length,
    min: Math.min(...values),
    median: median(values),
    max: Math.max(...values),
    cpuMs,
    floor,
    // A difference that drowned in other work is nothing to compare with.
    ratio: floor === undefined || floor <= 0 ? undefined : best(values) / floor,
  };
}

function optional(value: number | undefined, unit = ""): string {
  return value === undefined ? "" : `${shown(value)}${unit}`;
}

function shown(value: number): string {
  if (Math.abs(value) < 100) return value.toPrecision(3);
  return Math.round(value).toLocaleString("en-US");
}
