import type { NatsConnection } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** The largest message, including headers, that a server with default settings accepts. */
const defaultPayloadBytes = 1024 * 1024;
/** Room for headers: they count toward the size of a message, and are far below a kilobyte. */
const headerBytes = 1024;

/** How many bytes of data fit into one message on a server with default settings. */
export const defaultMaxDataBytes = defaultPayloadBytes - headerBytes;

/** Returns the size of the largest message, including headers, that the server of a connection accepts. */
export function maxPayloadBytes({ info }: NatsConnection): number {
  return info?.max_payload ?? defaultPayloadBytes;
}

/** Returns how many bytes of data fit into one message on the server of a connection. */
export function maxDataBytes(connection: NatsConnection): number {
  return maxPayloadBytes(connection) - headerBytes;
}

/** Returns the Failure for a batch that the store accepts neither now nor later. */
export function batchTooLarge(name: string, bytes: number, maxBytes: number): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.TOO_LARGE,
    `${name} would get a batch of ${bytes} bytes, more than the ${maxBytes} bytes that the store accepts; send less at a time, or large files as artifacts`,
  );
}

/** Returns whether an append failed because its batch is too large: appending the same batch always fails. */
export function isBatchTooLarge(error: unknown): boolean {
  return error instanceof Failure && error.reason === ErrorReason.TOO_LARGE;
}
