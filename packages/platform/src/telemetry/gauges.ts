import { Gauge } from "prom-client";
import { processMetrics } from "./metrics.ts";

/** A value of a gauge, read when the metrics are scraped. */
export interface GaugeReading {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface GaugeOptions {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Reads the current value. Undefined leaves the gauge out of this scrape. */
  readonly read: () => Promise<GaugeReading | undefined>;
}

const readers = new Map<string, Set<GaugeOptions["read"]>>();

/**
 * Adds a gauge to the metrics of this process until it is disposed. Values of several gauges with the same name and labels are
 * added up.
 */
export function registerGauge({ name, help, labels, read }: GaugeOptions): Disposable {
  const known = readers.get(name) ?? register(name, help, labels);
  known.add(read);
  return { [Symbol.dispose]: () => void known.delete(read) };
}

function register(name: string, help: string, labels: readonly string[]) {
  const reads = new Set<GaugeOptions["read"]>();
  readers.set(name, reads);
  const gauge = new Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [processMetrics()],
    async collect() {
      const readings = await Promise.all([...reads].map((read) => read()));
      gauge.reset();
      for (const reading of readings) if (reading) gauge.inc({ ...reading.labels }, reading.value);
    },
  });
  return reads;
}
