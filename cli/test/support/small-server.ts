import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { AgentService } from "@reeve/contracts/agent";
import { ApprovalService } from "@reeve/contracts/approval";
import { RunService } from "@reeve/contracts/run";
import type { GetRunRequest, RunEventSchema, StartRunRequest } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { RunningServer } from "@reeve/platform/rpc/server";
import { serve } from "@reeve/platform/rpc/server";

export type EventInit = MessageInitShape<typeof RunEventSchema>;

/** Serves `watchRun` on a port of 127.0.0.1. Every run exists, and waits for no approval. */
export async function smallServer(
  watchRun: ServiceImpl<typeof RunService>["watchRun"],
  port: number,
  signal: AbortSignal,
): Promise<RunningServer> {
  const methods = {
    watchRun,
    startRun: ({ agentId }: StartRunRequest) => ({ run: { runId: "run_1", agentId } }),
    getRun: ({ runId }: GetRunRequest) => ({
      run: { runId, agentId: "writer", scripted: true },
    }),
  };
  const routes = (router: ConnectRouter) => {
    router.service(RunService, methods);
    router.service(ApprovalService, { listApprovals: () => ({}) });
  };
  return await serveRoutes(routes, port, signal);
}

/** Serves some methods of RunService, and of AgentService, on a port of 127.0.0.1. */
export async function serveRuns(
  methods: Partial<ServiceImpl<typeof RunService>>,
  port: number,
  signal: AbortSignal,
  agents: Partial<ServiceImpl<typeof AgentService>> = {},
): Promise<RunningServer> {
  const routes = (router: ConnectRouter) => {
    router.service(RunService, methods);
    router.service(AgentService, agents);
  };
  return await serveRoutes(routes, port, signal);
}

/** Serves methods of RunService and ApprovalService on a port of 127.0.0.1. */
export async function serveRoutes(
  routes: (router: ConnectRouter) => void,
  port: number,
  signal: AbortSignal,
): Promise<RunningServer> {
  const log = createLogger("test", "silent");
  const services = [RunService, ApprovalService, AgentService];
  return await serve(routes, { host: "127.0.0.1", port, services, log }, signal);
}

/** Returns the events of a completed run with `count` texts, including the records at the start of a log. */
export function shortRun(count: number): readonly EventInit[] {
  const events: EventInit[] = [
    { event: { case: "runCreated", value: { agentId: "writer" } } },
    { event: { case: "runPrepared", value: { model: { upstreamName: "x" }, scripted: true } } },
    ...Array.from({ length: count }, (_, index): EventInit => ({
      event: { case: "text", value: { text: `word${index + 1}\n` } },
    })),
    { event: { case: "status", value: { status: RunStatus.COMPLETED } } },
  ];
  return events.map((event, index) => ({ ...event, runId: "run_1", sequence: index + 1 }));
}
