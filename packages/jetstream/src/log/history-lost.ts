import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** The failure of a reader that has events which the store does not have: the store has lost the end of the log. */
export function historyLost(
  log: string,
  { sequence }: { readonly sequence: number },
  metadata: Readonly<Record<string, string>> = {},
): Failure {
  return new Failure(
    "data_loss",
    ErrorReason.HISTORY_LOST,
    `the store has lost events of ${log} up to sequence ${sequence} that were already read, for example after a power failure; discard them and read from the beginning, without a resume token`,
    { metadata },
  );
}

export function isHistoryLost(error: unknown): boolean {
  return error instanceof Failure && error.reason === ErrorReason.HISTORY_LOST;
}
