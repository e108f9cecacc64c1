import type { Client, Interceptor } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { AgentService } from "./gen/reeve/agent/v1/agent_service_pb.ts";
import { ApprovalService } from "./gen/reeve/approval/v1/approval_pb.ts";
import { ArtifactService } from "./gen/reeve/artifact/v1/artifact_pb.ts";
import { MemoryService } from "./gen/reeve/memory/v1/memory_pb.ts";
import { RunService } from "./gen/reeve/run/v1/run_service_pb.ts";
import { ThreadService } from "./gen/reeve/thread/v1/thread_service_pb.ts";
import { ToolService } from "./gen/reeve/tool/v1/tool_pb.ts";
import type { Settings } from "./options.ts";

/** The services of the API as they are generated. Their methods throw a ConnectError; `ReeveError.from` reads it. */
export interface Services {
  readonly agents: Client<typeof AgentService>;
  readonly approvals: Client<typeof ApprovalService>;
  readonly artifacts: Client<typeof ArtifactService>;
  readonly memories: Client<typeof MemoryService>;
  readonly runs: Client<typeof RunService>;
  readonly threads: Client<typeof ThreadService>;
  readonly tools: Client<typeof ToolService>;
}

/** One HTTP/2 connection, opened with the first request and again after it broke. */
export interface Connection extends Services, Disposable {}

export function openConnection({ address, token, ca }: Settings): Connection {
  const session = new Http2SessionManager(
    address,
    { pingIntervalMs: 10_000, pingTimeoutMs: 5_000 },
    ca === undefined ? {} : { ca: Buffer.from(ca) },
  );
  const transport = createGrpcTransport({
    baseUrl: address,
    sessionManager: session,
    interceptors: token === undefined ? [] : [bearer(token)],
  });
  return {
    agents: createClient(AgentService, transport),
    approvals: createClient(ApprovalService, transport),
    artifacts: createClient(ArtifactService, transport),
    memories: createClient(MemoryService, transport),
    runs: createClient(RunService, transport),
    threads: createClient(ThreadService, transport),
    tools: createClient(ToolService, transport),
    [Symbol.dispose]: () => session.abort(),
  };
}

function bearer(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}
