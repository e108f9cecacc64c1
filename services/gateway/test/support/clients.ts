import type { Client, Transport } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { AgentService } from "@reeve/contracts/agent";
import { ApprovalService } from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import { AuditService } from "@reeve/contracts/audit";
import { KnowledgeService } from "@reeve/contracts/extensions/knowledge";
import { MemoryService } from "@reeve/contracts/memory";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { reasonName } from "@reeve/platform/reason-name";
import { OperationsService } from "@reeve/contracts/operations";
import { RunService } from "@reeve/contracts/run";
import { ThreadService } from "@reeve/contracts/thread";

/** A client transport for each protocol of the gateway. */
export const protocols = {
  "Connect with JSON": (baseUrl: string): Transport =>
    createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  "Connect over HTTP/2": (baseUrl: string): Transport =>
    createConnectTransport({ baseUrl, httpVersion: "2" }),
  "Connect with GET": (baseUrl: string): Transport =>
    createConnectTransport({ baseUrl, httpVersion: "1.1", useHttpGet: true }),
  gRPC: (baseUrl: string): Transport => createGrpcTransport({ baseUrl }),
  "gRPC-Web": (baseUrl: string): Transport =>
    createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
} as const;

export type Protocol = keyof typeof protocols;

/** Clients of the services of a gateway. */
export interface Clients {
  readonly agents: Client<typeof AgentService>;
  readonly approvals: Client<typeof ApprovalService>;
  readonly artifacts: Client<typeof ArtifactService>;
  readonly audit: Client<typeof AuditService>;
  readonly knowledge: Client<typeof KnowledgeService>;
  readonly memories: Client<typeof MemoryService>;
  readonly operations: Client<typeof OperationsService>;
  readonly runs: Client<typeof RunService>;
  readonly threads: Client<typeof ThreadService>;
}

export function clientsOf(
  url: string,
  authorization: string | undefined,
  protocol: Protocol,
): Clients {
  const transport = authorized(protocols[protocol](url), authorization);
  return {
    agents: createClient(AgentService, transport),
    approvals: createClient(ApprovalService, transport),
    artifacts: createClient(ArtifactService, transport),
    audit: createClient(AuditService, transport),
    knowledge: createClient(KnowledgeService, transport),
    memories: createClient(MemoryService, transport),
    operations: createClient(OperationsService, transport),
    runs: createClient(RunService, transport),
    threads: createClient(ThreadService, transport),
  };
}

/** Returns a transport that sends an authorization header with each request. */
export function authorized(transport: Transport, authorization: string | undefined): Transport {
  function withToken(header: ConstructorParameters<typeof Headers>[0]): Headers {
    const headers = new Headers(header);
    if (authorization !== undefined) headers.set("authorization", authorization);
    return headers;
  }
  return {
    unary: (method, signal, timeoutMs, header, ...rest) =>
      transport.unary(method, signal, timeoutMs, withToken(header), ...rest),
    stream: (method, signal, timeoutMs, header, ...rest) =>
      transport.stream(method, signal, timeoutMs, withToken(header), ...rest),
  };
}

/** The parts of a refusal that a client receives. */
export interface Refusal {
  readonly kind: string;
  readonly reason: string;
  readonly message: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly fields: readonly string[];
}

/** Returns the refusal of a call. Throws if the call succeeds. */
export async function refusalOf(call: Promise<unknown> | AsyncIterable<unknown>): Promise<Refusal> {
  try {
    if (Symbol.asyncIterator in call) for await (const _ of call);
    else await call;
  } catch (error) {
    const { kind, reason, message, metadata, violations } = failureFrom(error);
    const fields = violations.map(({ field, reason }) => `${field} ${reason}`);
    return { kind, reason: reasonName(reason), message, metadata: { ...metadata }, fields };
  }
  throw new Error("the call succeeded");
}
