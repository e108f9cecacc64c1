import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import type { Effect } from "../../domain/next-effects.ts";
import { idOf } from "../../domain/plugins/plugin-state.ts";
import type { Fact } from "../../domain/state/fact.ts";
import { fact } from "../../domain/state/fact.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import { HandOver } from "../../ports/ownership.ts";
import { inHookSpan } from "../../tracing/hook-span.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { guardHook } from "../guardrails/guard-hook.ts";
import { askPlugin } from "./ask-plugin.ts";

/** How many claims without progress look for a worker that has a plugin: the run is given back for about two minutes in total. */
const maxClaimsWithoutPlugin = 10;
const handOver = { firstDelayMs: 1_000, maxDelayMs: 15_000 };
const maxErrorBytes = 1_000;

/**
 * Runs a hook, waits first for the time of an action, and yields how it ended: once, in the log. Until then, every attempt and every
 * worker calls the plugin with the same id of the hook, and with a snapshot of the state of now. A plugin that gives no answer, or
 * one that does not fit, fails its hook only. Throws a HandOver if another worker may have the plugin, which this one has not.
 */
export async function* runHook(
  current: () => RunState,
  { due, scope }: Extract<Effect, { kind: "run_hook" }>,
  ports: RunPorts,
  signal: AbortSignal,
): AsyncIterable<readonly Fact[]> {
  const { pluginId, hookId, point, action } = due;
  const waitMs = (action?.dueAtMs ?? 0) - ports.clock.now();
  if (waitMs > 0) await ports.clock.sleep(waitMs, signal);
  const { runId } = current().head;
  const pinned = current().plugins?.pinned.find((each) => idOf(each) === pluginId);
  if (pinned === undefined) throw new Error(`run ${runId} has no plugin ${pluginId}`);
  const phase = point?.phase ?? HookPhase.ACTION;
  const callId = point?.call?.call.callId ?? "";
  const ofCurrent = (problem: string) => assertNotElsewhere(current(), problem);
  const outcome = await inHookSpan({ pluginId, phase, callId }, () =>
    point !== undefined && pinned.guardrails !== undefined
      ? guardHook(current(), point, ports, signal)
      : askPlugin(current, { due, pinned, assertNotElsewhere: ofCurrent }, ports, signal),
  );
  const { answer, error, attempts, guards = [], checkedWhole = false } = outcome;
  if (error !== "") {
    ports.logger.warn(
      { runId, plugin: pluginId, hook: hookId, error },
      "a hook of a plugin failed",
    );
  }
  const value = {
    pluginId,
    phase,
    hookId,
    callId,
    ...(answer && { answer }),
    error: truncateToBytes(error, maxErrorBytes),
    attempts,
    guards: [...guards],
    checkedWhole,
  };
  yield [fact(scope, { case: "pluginHookFinished", value })];
}

/** Throws a HandOver while another worker may have the plugin. */
function assertNotElsewhere({ idleClaims }: RunState, problem: string): void {
  if (idleClaims > maxClaimsWithoutPlugin) return;
  throw new HandOver(problem, delayAfter(Math.max(1, idleClaims), handOver));
}
