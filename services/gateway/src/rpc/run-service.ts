import type { ServiceImpl } from "@connectrpc/connect";
import { planOfRun } from "@reeve/agent/resolve/recorded-plan";
import { treeOf } from "@reeve/run/tree/execution-tree";
import { fitTree } from "@reeve/run/tree/fit-tree";
import type { Run } from "@reeve/contracts/run";
import { RunOrder, RunService } from "@reeve/contracts/run";
import { runOf } from "@reeve/run/head/run-of";
import { shownWaits } from "@reeve/run/head/waits";
import type { Clock } from "@reeve/platform/async/clock";
import { steadyClock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { noteEffect } from "@reeve/platform/rpc/outcome/call-effect";
import { ignoredFields } from "@reeve/platform/strict/strict-json";
import { serverDraining } from "@reeve/platform/rpc/server-draining";
import { credentialOf, mayCall, principalOf } from "@reeve/platform/rpc/principal";
import { counter } from "@reeve/platform/telemetry/metrics";
import { cancelRun } from "../app/cancel-run.ts";
import { costliestRuns } from "../app/runs/costliest-runs.ts";
import { SharedCounts } from "../app/runs/shared-counts.ts";
import { deleteRun } from "../app/delete/delete-run.ts";
import type { GatewayPorts } from "../app/gateway-ports.ts";
import { exportRunLog } from "../app/export-run-log.ts";
import { listRuns } from "../app/list-runs.ts";
import { maxWarnings } from "./agent-service.ts";
import {
  hasMemoriesOfAnother,
  MemoryGuard,
  treeWithoutMemories,
} from "../app/memories-of-others.ts";
import { readRun, runKeyOf } from "../app/read-run.ts";
import { retryRun } from "../app/retry-run.ts";
import { sendMessage } from "../app/send-message.ts";
import { startRun } from "../app/start-run.ts";
import { limitWalks } from "../app/watch/start-watch.ts";
import { watchRun } from "../app/watch-run.ts";
import { cancelUnwatched, Watchers } from "../app/watch/watchers.ts";

const resumes = counter({
  name: "reeve_stream_resumes_total",
  help: "Event streams that clients requested from a sequence after the first.",
});

/** The timeout of the cancellation of a run that lost its last watcher. */
const cancelMs = 30_000;
/** Well below the default message limit of gRPC clients, 4 MiB. */
const maxTreeBytes = 1024 * 1024;

function ignoredWarning(field: string): string {
  return `${field}: ignored; the agent and the deployment decide which tools a run has, and client_tools offers those of a client`;
}

export interface WatchContext {
  sleep: Clock["sleep"];
  /** Aborts when the gateway shuts down: the streams that it ends then were not left by their clients. */
  readonly ending: AbortSignal;
  readonly log: Logger;
}

/** Returns the handlers of RunService. */
export function runService(
  ports: GatewayPorts,
  { sleep, ending, log }: WatchContext,
): ServiceImpl<typeof RunService> {
  const watchers = new Watchers();
  const walks = limitWalks();
  const counts = new SharedCounts(ports.runLists, steadyClock);
  return {
    startRun: async (request, context) => {
      const started = await startRun(ports, credentialOf(context), request, context.signal);
      const warnings = [...ignoredFields().map(ignoredWarning), ...started.warnings];
      return { run: runOf(started.run), warnings: warnings.slice(0, maxWarnings) };
    },
    async *watchRun(request, context) {
      const principal = principalOf(context);
      const { runId } = request;
      const until = AbortSignal.any([context.signal, ending]);
      const watched = watchRun({ ...ports, walks, sleep }, principal.tenant, request, until);
      const key = runKeyOf(principal.tenant, runId);
      const guard = new MemoryGuard(ports.logParts, key, principal.subject);
      let through = request.afterSequence;
      // Who may only watch keeps no run alive, and ends none by leaving.
      const mayCancel = mayCall(context, RunService.method.cancelRun);
      if (mayCancel) watchers.enter(principal, runId);
      if (request.afterSequence > 0) resumes.inc();
      // Stays true if the client leaves: that ends the generator at a `yield`, without an error and without the end of the loop.
      let isLeft = true;
      try {
        for await (const { events, ...rest } of watched) {
          const shown = guard.shown(events, until);
          yield { events: [...(shown instanceof Promise ? await shown : shown)], ...rest };
          through = rest.throughSequence;
        }
        isLeft = false;
      } catch (error) {
        isLeft = context.signal.aborted;
        if (isLeft || !ending.aborted) throw error;
        throw serverDraining({ run_id: runId, through_sequence: String(through) });
      } finally {
        const isLast = mayCancel && watchers.leave(principal, runId);
        if (isLast && isLeft && !ending.aborted) {
          // Not awaited: the stream has ended, so no client would receive the error.
          cancelUnwatched(ports, principal, runId, AbortSignal.timeout(cancelMs)).catch(
            (error: unknown) =>
              log.warn(
                { err: error, runId },
                "unwatched run was not cancelled; cancel it manually",
              ),
          );
        }
      }
    },
    getRun: async ({ runId, includePlan }, context) => {
      const key = runKeyOf(principalOf(context).tenant, runId);
      const head = await readRun(ports.log, key, context.signal);
      const plan = includePlan ? planOfRun(head.prepared) : undefined;
      return { run: runOf(head), ...(plan && { plan }) };
    },
    getExecutionTree: async ({ runId }, context) => {
      const { tenant, subject } = principalOf(context);
      const head = await readRun(ports.log, runKeyOf(tenant, runId), context.signal);
      const tree = treeOf(head.tree);
      const shown = hasMemoriesOfAnother(head.created, subject) ? treeWithoutMemories(tree) : tree;
      return { tree: fitTree(shown, maxTreeBytes), throughSequence: head.lastSequence };
    },
    listRuns: async (request, context) => {
      const { tenant } = principalOf(context);
      if (request.order === RunOrder.COST) {
        const { runs, isPartial } = await costliestRuns(ports, tenant, request, context.signal);
        return { runs: runs.map(listed), isPartial };
      }
      const { items, nextPageToken } = await listRuns(
        ports.runLists,
        tenant,
        request,
        context.signal,
      );
      return { runs: items.map(listed), nextPageToken };
    },
    countRuns: (request, context) =>
      counts.count(principalOf(context).tenant, request, context.signal),
    cancelRun: async (request, context) => {
      const cancelling = { ...ports, onAppended: () => noteEffect(context) };
      return {
        run: runOf(await cancelRun(cancelling, principalOf(context), request, context.signal)),
      };
    },
    retryRun: async (request, context) => ({
      run: runOf(await retryRun(ports, credentialOf(context), request, context.signal)),
    }),
    deleteRun: async ({ runId }, context) => {
      const key = runKeyOf(principalOf(context).tenant, runId);
      return { existed: await deleteRun(ports, key, context.signal) };
    },
    exportRunLog: ({ runId }, context) =>
      exportRunLog(ports, credentialOf(context), runId, context.signal),
    sendMessage: (request, context) =>
      sendMessage(ports, principalOf(context), request, context.signal),
  };
}

/** Returns a run as lists show it. */
function listed(row: Run): Run {
  return { ...row, waitingFor: shownWaits(row.waitingFor) };
}
