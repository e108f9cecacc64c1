import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

const registry = new Registry();
let hasDefaults = false;

/** Returns the metrics of this process. Node's own metrics are collected from the first call on. */
export function processMetrics(): Registry {
  if (!hasDefaults) collectDefaultMetrics({ register: registry });
  hasDefaults = true;
  return registry;
}

/** The declaration of a metric: once per process, in the file that counts it. A label has few values, all known in advance. */
export interface MetricDeclaration<Label extends string> {
  /** `reeve_`, the measured quantity, and its unit. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

/** Declares a counter: a value that only grows. */
export function counter<Label extends string = never>(
  declaration: MetricDeclaration<Label>,
): Counter<Label> {
  return new Counter(configOf(declaration));
}

/** Declares a gauge: a current value. */
export function gauge<Label extends string = never>(
  declaration: MetricDeclaration<Label>,
): Gauge<Label> {
  return new Gauge(configOf(declaration));
}

/** Declares a histogram of durations in seconds. */
export function histogram<Label extends string = never>(
  declaration: MetricDeclaration<Label> & { readonly buckets: readonly number[] },
): Histogram<Label> {
  return new Histogram({ ...configOf(declaration), buckets: [...declaration.buckets] });
}

function configOf<Label extends string>({ name, help, labels = [] }: MetricDeclaration<Label>) {
  return { name, help, labelNames: [...labels], registers: [registry] };
}

/**
 * Limits the number of values of a label: keeps the first `maxValues` values and replaces every later one by `other`. Create
 * one function per label.
 */
export function boundedLabel(maxValues: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= maxValues) return "other";
    known.add(value);
    return value;
  };
}

/** Returns the metrics as text, with its media type. */
export async function readMetrics(): Promise<{ readonly type: string; readonly text: string }> {
  const metrics = processMetrics();
  return { type: metrics.contentType, text: await metrics.metrics() };
}
