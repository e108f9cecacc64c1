import type { PinnedPlugin } from "@reeve/contracts/run";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import { answerProblem } from "../../domain/plugins/answer-problem.ts";
import type { DueHook } from "../../domain/plugins/due-hooks.ts";
import { hookRequest } from "../../domain/plugins/hook-request.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import { PluginFailure } from "../../ports/plugin-host.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import type { Outcome } from "./hook-outcome.ts";

/** How often a worker calls a plugin for one hook while it gives no answer. */
const maxAttempts = 10;
const backoff = { firstDelayMs: 500, maxDelayMs: 15_000 };

/** A hook, and the plugin that it is of. */
export interface PluginHook {
  readonly due: DueHook;
  readonly pinned: PinnedPlugin;
  /** Throws while another worker may have the plugin, which this one has not. */
  readonly assertNotElsewhere: (problem: string) => void;
}

/** Calls a plugin for a hook until it answers, at most ten times in about 75 seconds. Returns the answer, or why there is none that fits. */
export async function askPlugin(
  current: () => RunState,
  { due, pinned, assertNotElsewhere }: PluginHook,
  ports: Pick<RunPorts, "plugins" | "clock" | "worker">,
  signal: AbortSignal,
): Promise<Outcome> {
  const { plugin } = pinned;
  if (ports.plugins === undefined || plugin === undefined) {
    const error = `worker ${ports.worker} has no plugins; set REEVE_PLUGINS of all runtimes to the same file`;
    assertNotElsewhere(error);
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
      if (error.isElsewhere) assertNotElsewhere(error.message);
      if (!error.retryable || attempt === maxAttempts) {
        return { error: error.message, attempts: attempt };
      }
    }
    await ports.clock.sleep(delayAfter(attempt, backoff), signal);
  }
}

function messageOf(error: unknown): string {
  return `it could not be asked: ${error instanceof Error ? error.message : String(error)}`;
}
