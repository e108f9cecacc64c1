import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { cancelCall } from "@reeve/run/commands/cancel-call";
import { callsToRelease } from "../domain/next-effects.ts";
import type { RunState } from "../domain/state/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { callKey } from "../perform/call-tool.ts";

/** Withdraws the calls that an ended run leaves behind: one that waits never starts, one under way is ended. */
export async function releaseCalls(
  state: RunState,
  { journal, clock }: Pick<RunPorts, "journal" | "clock">,
  signal: AbortSignal,
): Promise<void> {
  const reason = `the run ended: ${state.end ?? ""}`;
  const withdrawn = { reason, time: timestampFromMs(clock.now()) };
  await Promise.all(
    callsToRelease(state).map(({ call }) =>
      cancelCall(journal, callKey(state, call.callId), withdrawn, signal),
    ),
  );
}
