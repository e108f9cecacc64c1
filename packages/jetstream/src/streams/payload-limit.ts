import type { NatsConnection } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** The largest message of a server with default settings, headers included. */
const defaultPayloadBytes = 1024 * 1024;
/** Room for headers: they count toward the size of a message, and are far below a kilobyte. */
const headerBytes = 1024;

/** The largest payload of one message on a server with default settings. */
export const defaultMaxDataBytes = defaultPayloadBytes - headerBytes;

/** Returns the largest message that the server of a connection accepts, headers included. */
export function maxPayloadBytes({ info }: NatsConnection): number {
  return info?.max_payload ?? defaultPayloadBytes;
}

/** Returns the largest payload of one message that the server of a connection accepts. */
export function maxDataBytes(connection: NatsConnection): number {
  return maxPayloadBytes(connection) - headerBytes;
}

/** Returns the Failure for a batch that the store accepts neither now nor later. */
export function batchTooLarge(name: string, bytes: number, maxBytes: number): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.TOO_LARGE,
    `a batch of ${bytes} bytes for ${name} exceeds the ${maxBytes} bytes that the store accepts; pass large content as an artifact`,
  );
}

/** Returns whether an append failed because its batch is too large: appending the same batch always fails. */
export function isBatchTooLarge(error: unknown): boolean {
  return error instanceof Failure && error.reason === ErrorReason.TOO_LARGE;
}
