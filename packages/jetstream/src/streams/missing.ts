import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";

const missing: ReadonlySet<number> = new Set([
  JetStreamApiCodes.ConsumerNotFound,
  JetStreamApiCodes.StreamNotFound,
]);

/** Whether an error says that a stream or a consumer does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof JetStreamApiError && missing.has(error.code);
}
