import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ToolCallFactSchema } from "@reeve/contracts/tool";
import { emptyTail } from "@reeve/log/log";
import { callsToRelease } from "../domain/next-effects.ts";
import type { RunState } from "../domain/run-state.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { callKey } from "./call-tool.ts";

/** How often a journal is tried again when its toolhost writes at the same time. */
const mostAttempts = 50;

/** Withdraws the calls that an ended run leaves behind: one that waits never starts, one under way is ended. */
export async function releaseCalls(
  state: RunState,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  const calls = callsToRelease(state);
  await Promise.all(calls.map(({ call }) => cancelCall(state, call.callId, ports, signal)));
}

async function cancelCall(
  state: RunState,
  callId: string,
  { journal, clock }: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  const key = callKey(state, callId);
  const cancelled = create(ToolCallFactSchema, {
    time: timestampFromMs(clock.now()),
    fact: { case: "cancelled", value: { reason: `the run ended: ${state.end ?? ""}` } },
  });
  let tail = emptyTail;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const known = await journal.read(key, tail, signal);
    if (
      known.events.some(({ fact: { case: kind } }) => kind === "result" || kind === "cancelled")
    ) {
      return;
    }
    tail = known.tail;
    const outcome = await journal.append(key, tail, [cancelled], signal);
    if (outcome.kind === "appended") return;
  }
  throw new Error(`call ${callId} could not be cancelled: its toolhost wrote first each time`);
}
