import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** The largest message of a server that says nothing else. */
export const defaultPayloadBytes = 1024 * 1024;
/** Headers count too; they are far below a kilobyte. */
export const headerBytes = 1024;

/** The refusal of a batch that the store does not take, now or later. */
export function oversized(name: string, bytes: number, most: number): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.TOO_LARGE,
    `a batch of ${bytes} bytes for ${name} is over the ${most} that the store takes; pass large content as an artifact`,
  );
}

/** Whether an append was refused because its batch is too large: the same one will be refused for ever. */
export function isOversized(error: unknown): boolean {
  return error instanceof Failure && error.reason === ErrorReason.TOO_LARGE;
}
