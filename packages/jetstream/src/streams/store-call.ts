import { JetStreamApiError } from "@nats-io/jetstream";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { unanswered } from "@reeve/platform/nats/unanswered";

/** `wrong last sequence`, by its codes: somebody else wrote first. */
export const conflicts: ReadonlySet<number> = new Set([10071, 10164]);

/** Calls the store, with its errors as ours. */
export function callStore<Result>(call: () => Promise<Result>): Promise<Result>;
/** The same for a compare-and-write: undefined when another version is there. */
export function callStore<Result>(
  call: () => Promise<Result>,
  mode: "undefined_on_conflict",
): Promise<Result | undefined>;
export async function callStore<Result>(
  call: () => Promise<Result>,
  mode?: "undefined_on_conflict",
): Promise<Result | undefined> {
  try {
    return await call();
  } catch (error) {
    if (mode === "undefined_on_conflict" && isConflict(error)) return undefined;
    throw storeFailure(error);
  }
}

export function isConflict(error: unknown): boolean {
  return error instanceof JetStreamApiError && conflicts.has(error.code);
}

/** What an error of the store means to the caller. */
export function storeFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (/maximum (bytes|messages|memory|storage)|insufficient|no space left/i.test(message)) {
    return new Failure(
      "exhausted",
      ErrorReason.STORAGE_FULL,
      `the store is full (${message}); delete runs or artifacts, or give JetStream more room`,
      { cause: error },
    );
  }
  if (/max_payload|maximum payload|message size exceeds/i.test(message)) {
    return new Failure(
      "exhausted",
      ErrorReason.TOO_LARGE,
      "the record is larger than a message of the store may be",
      { cause: error },
    );
  }
  return unanswered(error);
}
