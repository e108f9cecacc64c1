import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** A refusal of JetStream, as its reply carries it. */
export interface ApiError {
  readonly code: number;
  readonly err_code?: number;
  readonly description?: string;
}

/** `wrong last sequence`: somebody else wrote first. */
const wrongLastSequence: ReadonlySet<number> = new Set([10071, 10164]);
/** Out of storage, memory, or the limits of a stream or an account. */
const full: ReadonlySet<number> = new Set([10002, 10023, 10028, 10047, 10122]);

export function isConflict({ err_code }: ApiError): boolean {
  return err_code !== undefined && wrongLastSequence.has(err_code);
}

/** What a refusal means to the caller. */
export function apiFailure(refusal: ApiError): Failure {
  const description = refusal.description ?? `code ${refusal.code}`;
  if (isFull(refusal)) {
    return new Failure(
      "exhausted",
      ErrorReason.STORAGE_FULL,
      `the store is full (${description}); delete runs or give JetStream more room`,
    );
  }
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, `the store refused: ${description}`);
}

/** The limits of a stream are answered as a failed store (10077) that says why only in words. */
function isFull({ err_code, description = "" }: ApiError): boolean {
  if (err_code !== undefined && full.has(err_code)) return true;
  return /maximum (bytes|messages|memory|storage)|insufficient (resources|storage)|no space left/i.test(
    description,
  );
}
