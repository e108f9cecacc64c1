import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { PinnedPlugin } from "@reeve/contracts/run";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import type { Effect } from "../../domain/next-effects.ts";
import { answerProblem } from "../../domain/plugins/answer-problem.ts";
import type { DueHook } from "../../domain/plugins/due-hooks.ts";
import { hookRequest } from "../../domain/plugins/hook-request.ts";
import { idOf } from "../../domain/plugins/plugin-state.ts";
import type { Fact } from "../../domain/state/fact.ts";
import { fact } from "../../domain/state/fact.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import { HandOver } from "../../ports/ownership.ts";
import { PluginFailure } from "../../ports/plugin-host.ts";
import { inHookSpan } from "../../tracing/hook-span.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { guardHook } from "../guardrails/guard-hook.ts";
import type { Outcome } from "./hook-outcome.ts";

/** How many claims without progress look for a worker that has a plugin: the run is given back for about two minutes in total. */
const maxClaimsWithoutPlugin = 10;
const handOver = { firstDelayMs: 1_000, maxDelayMs: 15_000 };
/** How often a worker calls a plugin for one hook while it gives no answer. */
const maxAttempts = 10;
const backoff = { firstDelayMs: 500, maxDelayMs: 15_000 };
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
  const outcome = await inHookSpan({ pluginId, phase, callId }, () =>
    point !== undefined && pinned.guardrails !== undefined
      ? guardHook(current(), point, ports, signal)
      : outcomeOf(current, { due, pinned }, ports, signal),
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

async function outcomeOf(
  current: () => RunState,
  { due, pinned }: { readonly due: DueHook; readonly pinned: PinnedPlugin },
  ports: RunPorts,
  signal: AbortSignal,
): Promise<Outcome> {
  const { plugin } = pinned;
  if (ports.plugins === undefined || plugin === undefined) {
    const error = `worker ${ports.worker} has no plugins; set REEVE_PLUGINS of all runtimes to the same file`;
    assertNotElsewhere(current(), error);
    return { error, attempts: 0 };
  }
  const traceparent = traceparentOf() || (current().head.created?.traceparent ?? "");
  for (let attempt = 1; ; attempt++) {
    try {
      const request = hookRequest(current(), due, pinned, { attempt, traceparent });
      const answer = await ports.plugins.runHook(plugin, request, signal);
      const problem = answerProblem(current(), due, pinned, answer);
      return problem === undefined
        ? { answer, error: "", attempts: attempt }
        : { error: problem, attempts: attempt };
    } catch (error) {
      signal.throwIfAborted();
      // One hook that cannot be asked must not cost the run its worker.
      if (!(error instanceof PluginFailure)) return { error: messageOf(error), attempts: attempt };
      if (error.isElsewhere) assertNotElsewhere(current(), error.message);
      if (!error.retryable || attempt === maxAttempts) {
        return { error: error.message, attempts: attempt };
      }
    }
    await ports.clock.sleep(delayAfter(attempt, backoff), signal);
  }
}

/** Throws a HandOver while another worker may have the plugin. */
function assertNotElsewhere({ idleClaims }: RunState, problem: string): void {
  if (idleClaims > maxClaimsWithoutPlugin) return;
  throw new HandOver(problem, delayAfter(Math.max(1, idleClaims), handOver));
}

function messageOf(error: unknown): string {
  return `it could not be asked: ${error instanceof Error ? error.message : String(error)}`;
}
