import type { Client, Interceptor } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { AgentService } from "@reeve/contracts/agent";
import { ApprovalService } from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import { MemoryService } from "@reeve/contracts/memory";
import { RunService } from "@reeve/contracts/run";
import { ThreadService } from "@reeve/contracts/thread";
import { ToolService, WorkspaceService } from "@reeve/contracts/tool";
import type { ServerAddress } from "./server-address.ts";

/** The public API of a server. Its methods throw a ConnectError; `failureFrom` reads it. */
export interface Reeve extends Disposable {
  readonly address: ServerAddress;
  readonly agents: Client<typeof AgentService>;
  readonly approvals: Client<typeof ApprovalService>;
  readonly artifacts: Client<typeof ArtifactService>;
  readonly files: Client<typeof WorkspaceService>;
  readonly memories: Client<typeof MemoryService>;
  readonly runs: Client<typeof RunService>;
  readonly threads: Client<typeof ThreadService>;
  readonly tools: Client<typeof ToolService>;
}

/** Opens the API at `address`. Connects with the first request. */
export function openReeve(address: ServerAddress): Reeve {
  const session = new Http2SessionManager(address.url, { pingIntervalMs: 20_000 });
  const transport = createGrpcTransport({
    baseUrl: address.url,
    sessionManager: session,
    interceptors: address.token === undefined ? [] : [bearer(address.token)],
  });
  return {
    address,
    agents: createClient(AgentService, transport),
    approvals: createClient(ApprovalService, transport),
    artifacts: createClient(ArtifactService, transport),
    files: createClient(WorkspaceService, transport),
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
