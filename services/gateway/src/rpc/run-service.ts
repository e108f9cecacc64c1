import type { ServiceImpl } from "@connectrpc/connect";
import { treeOf } from "@reeve/run/tree/execution-tree";
import { fitTree } from "@reeve/run/tree/fit-tree";
import type { RunService } from "@reeve/contracts/run";
import { runOf } from "@reeve/run/head/run-head";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { serverDraining } from "@reeve/platform/rpc/server-draining";
import { principalOf } from "@reeve/platform/rpc/principal";
import { cancelRun } from "../app/cancel-run.ts";
import type { GatewayPorts } from "../app/gateway-ports.ts";
import { cancelUnwatched, Watchers } from "../app/watchers.ts";
import { listRuns } from "../app/list-runs.ts";
import { readRun, runKeyOf } from "../app/read-run.ts";
import { sendMessage } from "../app/send-message.ts";
import { startRun } from "../app/start-run.ts";
import { countResume } from "../app/stream-metrics.ts";
import { watchRun } from "../app/watch-run.ts";

/** How long the cancellation of a run that nobody watches may take. */
const cancelMs = 30_000;

export interface WatchContext {
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
  /** Aborts when the gateway itself goes away: a stream that it ends was not given up by its client. */
  readonly ending: AbortSignal;
  readonly log: Logger;
}

/** A tree stays below what clients of gRPC accept. */
const maxTreeBytes = 1024 * 1024;

export function runService(
  ports: GatewayPorts,
  { sleep, ending, log }: WatchContext,
): ServiceImpl<typeof RunService> {
  const watchers = new Watchers();
  return {
    startRun: async (request, context) => ({
      run: runOf(await startRun(ports, principalOf(context), request, context.signal)),
    }),
    async *watchRun(request, context) {
      const principal = principalOf(context);
      const { runId } = request;
      const until = AbortSignal.any([context.signal, ending]);
      const watched = watchRun({ log: ports.log, sleep }, principal.tenant, request, until);
      let through = request.afterSequence;
      watchers.enter(principal, runId);
      countResume(request.afterSequence);
      // A client that leaves ends the iteration from outside: neither the loop comes to its end, nor does anything fail.
      let isLeft = true;
      try {
        for await (const { events, ...rest } of watched) {
          yield { events: [...events], ...rest };
          through = rest.throughSequence;
        }
        isLeft = false;
      } catch (error) {
        isLeft = context.signal.aborted;
        if (isLeft || !ending.aborted) throw error;
        throw serverDraining({ run_id: runId, through_sequence: String(through) });
      } finally {
        const isLast = watchers.leave(principal, runId);
        if (isLast && isLeft && !ending.aborted) {
          // The stream is gone: nobody is left to be told what becomes of this.
          cancelUnwatched(ports, principal, runId, AbortSignal.timeout(cancelMs)).catch(
            (error: unknown) => log.warn({ err: error, runId }, "unwatched run not cancelled"),
          );
        }
      }
    },
    getRun: async ({ runId }, context) => {
      const key = runKeyOf(principalOf(context).tenant, runId);
      return { run: runOf(await readRun(ports.log, key, context.signal)) };
    },
    getExecutionTree: async ({ runId }, context) => {
      const key = runKeyOf(principalOf(context).tenant, runId);
      const head = await readRun(ports.log, key, context.signal);
      return {
        tree: fitTree(treeOf(head.tree), maxTreeBytes),
        throughSequence: head.lastSequence,
      };
    },
    listRuns: async (request, context) => {
      const { tenant } = principalOf(context);
      const { items, nextPageToken } = await listRuns(
        ports.runLists,
        tenant,
        request,
        context.signal,
      );
      return { runs: [...items], nextPageToken };
    },
    cancelRun: async (request, context) => ({
      run: runOf(await cancelRun(ports, principalOf(context), request, context.signal)),
    }),
    sendMessage: (request, context) =>
      sendMessage(ports, principalOf(context), request, context.signal),
  };
}
