import type { ServiceImpl } from "@connectrpc/connect";
import { treeOf } from "@reeve/contracts/execution-tree";
import type { RunService } from "@reeve/contracts/run";
import { runOf } from "@reeve/log/run-head";
import { principalOf } from "@reeve/platform/principal";
import { cancelRun } from "../app/cancel-run.ts";
import type { GatewayPorts } from "../app/gateway-ports.ts";
import { listRuns } from "../app/list-runs.ts";
import { readRun, runKeyOf } from "../app/read-run.ts";
import { sendMessage } from "../app/send-message.ts";
import { startRun } from "../app/start-run.ts";
import { watchRun } from "../app/watch-run.ts";

export function runService(
  ports: GatewayPorts,
  sleep: (delayMs: number, signal: AbortSignal) => Promise<void>,
): ServiceImpl<typeof RunService> {
  return {
    startRun: async (request, context) => ({
      run: runOf(await startRun(ports, principalOf(context), request, context.signal)),
    }),
    async *watchRun(request, context) {
      const { tenant } = principalOf(context);
      for await (const { events, throughSequence } of watchRun(
        { log: ports.log, sleep },
        tenant,
        request,
        context.signal,
      )) {
        yield { events: [...events], throughSequence };
      }
    },
    getRun: async ({ runId }, context) => {
      const key = runKeyOf(principalOf(context).tenant, runId);
      return { run: runOf(await readRun(ports.log, key, context.signal)) };
    },
    getExecutionTree: async ({ runId }, context) => {
      const key = runKeyOf(principalOf(context).tenant, runId);
      const head = await readRun(ports.log, key, context.signal);
      return { tree: treeOf(head.tree), throughSequence: head.lastSequence };
    },
    listRuns: async (request, context) => {
      const { tenant } = principalOf(context);
      const { items, nextPageToken } = await listRuns(ports.runs, tenant, request, context.signal);
      return { runs: [...items], nextPageToken };
    },
    cancelRun: async (request, context) => ({
      run: runOf(await cancelRun(ports, principalOf(context), request, context.signal)),
    }),
    sendMessage: (request, context) =>
      sendMessage(ports, principalOf(context), request, context.signal),
  };
}
