import { ClientCallState } from "@reeve/contracts/run";
import type { Effect } from "../domain/next-effects.ts";
import type { Fact } from "../domain/state/fact.ts";
import { fact } from "../domain/state/fact.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/** Waits until the deadline of a client's call, and yields that it has expired. An answer ends the effect earlier: nothing needs it then. */
export async function* awaitClient(
  { call, deadlineMs, scope }: Extract<Effect, { kind: "await_client" }>,
  { clock }: Pick<RunPorts, "clock">,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  await clock.sleep(Math.max(0, deadlineMs - clock.now()), signal);
  const { callId } = call.call;
  yield [fact(scope, { case: "clientCall", value: { callId, state: ClientCallState.EXPIRED } })];
}
