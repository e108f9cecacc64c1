import { collectDefaultMetrics, Registry } from "prom-client";

let registry: Registry | undefined;

/** The metrics of this process. They cost nothing until somebody asks for them. */
export function metricsOfProcess(): Registry {
  if (registry !== undefined) return registry;
  registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** The metrics as text, with its media type. */
export async function readMetrics(): Promise<{ readonly type: string; readonly text: string }> {
  const metrics = metricsOfProcess();
  return { type: metrics.contentType, text: await metrics.metrics() };
}
