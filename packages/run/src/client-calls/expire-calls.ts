import { ClientCallState } from "@reeve/contracts/run";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { AppendExternalPorts } from "../commands/append-external.ts";
import { appendExternal } from "../commands/append-external.ts";
import { hasEnded } from "../head/client-calls.ts";
import type { RunHead } from "../head/run-head.ts";
import { isParked } from "../head/ownership.ts";

/** Records that the calls of a parked run whose deadline is over have expired, so that a worker takes up the run. Returns its head. May be repeated. */
export async function expireCalls(
  ports: AppendExternalPorts,
  key: RunKey,
  nowMs: number,
  signal: AbortSignal,
): Promise<RunHead> {
  const isDue = (deadlineMs: number) => deadlineMs <= nowMs;
  return await appendExternal(
    ports,
    key,
    (before) =>
      // The owner of a run that is not parked serves the deadlines itself.
      !isParked(before)
        ? []
        : [...before.clientCalls.values()]
            .filter((call) => !hasEnded(call) && isDue(call.deadlineMs))
            .map(({ callId }) => ({
              case: "clientCall" as const,
              value: { callId, state: ClientCallState.EXPIRED },
            })),
    signal,
  );
}
