import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/**
 * Returns the refusal to decide on a log that has an event of a newer version. Repeating the operation succeeds once it
 * reaches a process of that version.
 */
export function newerVersion(log: string, sequence: number): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.NEWER_VERSION,
    `event ${sequence} of ${log} was written by a newer version; upgrade this service, or try again at one that is upgraded`,
  );
}
