import { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { PinnedPlugin } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { deactivation, hookedPlugins, hookIdOf } from "../../domain/plugins/hook-points.ts";
import { idOf } from "../../domain/plugins/plugin-state.ts";
import { rootId } from "../../domain/state/frame.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import type { DispatchDelivery } from "../../ports/ownership.ts";
import { HandOver } from "../../ports/ownership.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { inHookSpan } from "../../tracing/hook-span.ts";
import { askPlugin } from "./ask-plugin.ts";

/** How many deliveries of a message look for a worker that has a plugin: it is given back for about two minutes in total. */
const maxDeliveriesWithoutPlugin = 10;
const handOver = { firstDelayMs: 1_000, maxDelayMs: 15_000 };

/** The delivery of a message that brought a worker to an ended run. */
type EndingDelivery = DispatchDelivery & {
  readonly message: DispatchDelivery["message"] & { readonly cancelled: boolean };
};

/**
 * Runs the hooks of the plugins of an ended run that follow its end, with the delivery that ended it: that of its owner, or that of a
 * cancellation. A delivery that is repeated because its worker died repeats them with the same ids. A hook that fails is logged, and changes
 * nothing. Throws a HandOver if another worker may have a plugin that this one has not.
 */
export async function deactivatePlugins(
  state: RunState,
  delivery: EndingDelivery,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  if (!endedBy(state, delivery)) return;
  const hooked = hookedPlugins(state, deactivation);
  const asked = hooked.map((pinned) => deactivate(state, { pinned, delivery }, ports, signal));
  const outcomes = await Promise.allSettled(asked);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

/** Whether a delivery is that of the end of a run. Others come late, and find what has ended. */
function endedBy(
  { head: { status, claim } }: RunState,
  { message, sequence }: EndingDelivery,
): boolean {
  return status === RunStatus.CANCELLED
    ? message.cancelled
    : claim?.dispatchSequence === BigInt(sequence);
}

async function deactivate(
  state: RunState,
  { pinned, delivery }: { readonly pinned: PinnedPlugin; readonly delivery: EndingDelivery },
  ports: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  const pluginId = idOf(pinned);
  const hookId = hookIdOf(state, deactivation, pluginId);
  const due = { hookId, pluginId, frame: rootId, point: deactivation };
  const assertNotElsewhere = (problem: string) => {
    const deliveries = deliveriesSinceEnd(state, delivery);
    if (deliveries > maxDeliveriesWithoutPlugin) return;
    throw new HandOver(problem, delayAfter(deliveries, handOver));
  };
  const span = { pluginId, phase: HookPhase.DEACTIVATE, callId: "" };
  const { error } = await inHookSpan(span, () =>
    askPlugin(() => state, { due, pinned, assertNotElsewhere }, ports, signal),
  );
  if (error === "") return;
  const { runId } = state.head;
  ports.logger.warn({ runId, plugin: pluginId, hook: hookId, error }, "a hook of a plugin failed");
}

/** Returns the number of the delivery among those that found the run ended, from 1. The message of an owner was delivered before. */
function deliveriesSinceEnd(
  { head: { claim } }: RunState,
  { sequence, attempt }: EndingDelivery,
): number {
  const before = claim?.dispatchSequence === BigInt(sequence) ? claim.attempt - 1 : 0;
  return Math.max(1, attempt - before);
}
