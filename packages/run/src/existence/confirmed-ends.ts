import { ErrorReason } from "@reeve/contracts/error";
import type { SettledLog } from "@reeve/jetstream/log/port";
import type { RunTailReader } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import type { ConfirmedExistence } from "./asked-existence.ts";

/**
 * Returns a reader of the ends of logs for a service that may not confirm itself that a run does not exist: it asks a gateway
 * before it returns nothing. Throws a Failure of kind `unavailable` when the gateway says otherwise, or none answers.
 */
export function confirmedEnds(
  runs: RunTailReader & Pick<SettledLog, "isReplicated">,
  exists: ConfirmedExistence,
): RunTailReader {
  return {
    async last(key, signal) {
      const end = await runs.last(key, signal);
      if (end.tail.sequence > 0 || !runs.isReplicated) return end;
      if (!(await exists(key, signal))) return end;
      const message = `the server of NATS that was asked does not have the log of run ${key.run} yet; try again in a few seconds`;
      throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
    },
  };
}
