import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "../telemetry/logger.ts";

/** Interval between warnings about one step. */
const reportMs = 5_000;

const loggers = new WeakMap<NatsConnection, Pick<Logger, "warn">>();

/** Makes `storeStep` log to `log` for this connection. */
export function reportStoreSteps(connection: NatsConnection, log: Pick<Logger, "warn">): void {
  loggers.set(connection, log);
}

/**
 * Runs one step of opening the store, such as `bucket tools`. While it takes long, logs its name, so that the log of a service
 * that does not become ready shows what it waits for.
 */
export async function storeStep<Result>(
  connection: NatsConnection,
  step: string,
  run: () => Promise<Result>,
): Promise<Result> {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const waitedMs = Math.round(performance.now() - startedAt);
    loggers.get(connection)?.warn({ step, waitedMs }, "still waiting for the store");
  }, reportMs).unref();
  try {
    return await run();
  } finally {
    clearInterval(timer);
  }
}
