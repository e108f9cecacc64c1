import { create } from "@bufbuild/protobuf";
import { ToolResultSchema } from "@reeve/contracts/tool";
import { toolResultFact } from "../domain/calls/tool-result.ts";
import type { Effect } from "../domain/next-effects.ts";
import type { Fact } from "../domain/state/fact.ts";
import type { RunPorts } from "../ports/run-ports.ts";

/** Waits until a node of a workflow is due, and yields its result. The time is in the log, so that a later owner waits for the rest only. */
export async function* waitForDelay(
  { call, dueAtMs, scope }: Extract<Effect, { kind: "wait_for_delay" }>,
  { clock }: Pick<RunPorts, "clock">,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  await clock.sleep(Math.max(0, dueAtMs - clock.now()), signal);
  const { callId, name } = call.call;
  const result = create(ToolResultSchema, { callId, name, content: "the wait is over" });
  yield [toolResultFact(call, scope, result, clock.now())];
}
