import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

const registry = new Registry();
let hasDefaults = false;

/** The metrics of this process. Those of Node cost nothing until somebody asks for them. */
export function processMetrics(): Registry {
  if (!hasDefaults) collectDefaultMetrics({ register: registry });
  hasDefaults = true;
  return registry;
}

/** A metric, as it is declared: once in a process, where it is counted. Values of labels are few and known beforehand. */
export interface MetricDeclaration<Label extends string> {
  /** `reeve_`, what it is, and its unit. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

/** Something that only grows. */
export function counter<Label extends string = never>(
  declaration: MetricDeclaration<Label>,
): Counter<Label> {
  return new Counter(configOf(declaration));
}

/** Something that there is at the moment. */
export function gauge<Label extends string = never>(
  declaration: MetricDeclaration<Label>,
): Gauge<Label> {
  return new Gauge(configOf(declaration));
}

/** How long something takes, in seconds. */
export function histogram<Label extends string = never>(
  declaration: MetricDeclaration<Label> & { readonly buckets: readonly number[] },
): Histogram<Label> {
  return new Histogram({ ...configOf(declaration), buckets: [...declaration.buckets] });
}

function configOf<Label extends string>({ name, help, labels = [] }: MetricDeclaration<Label>) {
  return { name, help, labelNames: [...labels], registers: [registry] };
}

/**
 * Keeps a label within bounds: the first `most` values stand for themselves, every later one is `other`. Each label has one of
 * its own.
 */
export function boundedLabel(most: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most) return "other";
    known.add(value);
    return value;
  };
}

/** The metrics as text, with its media type. */
export async function readMetrics(): Promise<{ readonly type: string; readonly text: string }> {
  const metrics = processMetrics();
  return { type: metrics.contentType, text: await metrics.metrics() };
}
