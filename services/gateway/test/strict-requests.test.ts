import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { IdentityService } from "@reeve/contracts/identity";
import { AgentService, ModelService } from "@reeve/contracts/agent";
import { ApprovalService } from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import { AuditService } from "@reeve/contracts/audit";
import { KnowledgeService } from "@reeve/contracts/extensions/knowledge";
import { MemoryService } from "@reeve/contracts/memory";
import { NotificationService } from "@reeve/contracts/notification";
import { OperationsService } from "@reeve/contracts/operations";
import { PasskeyService } from "@reeve/contracts/passkey";
import { ReceiptService } from "@reeve/contracts/receipt";
import { RunService } from "@reeve/contracts/run";
import { ThreadService } from "@reeve/contracts/thread";
import { WorkflowService } from "@reeve/contracts/extensions/workflow";
import { TriggerService } from "@reeve/contracts/trigger";
import { ToolService, WorkspaceService } from "@reeve/contracts/tool";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { openBenchWithAgent } from "./support/bench-with-agent.ts";
import { authorized, protocols, refusalOf } from "./support/clients.ts";
import { tokens } from "./support/gateway-bench.ts";
import { addedField, newerContract, placesIn } from "./support/newer-contract.ts";

const services = [
  IdentityService,
  AgentService,
  ApprovalService,
  ArtifactService,
  AuditService,
  KnowledgeService,
  MemoryService,
  ModelService,
  NotificationService,
  OperationsService,
  PasskeyService,
  ReceiptService,
  RunService,
  ThreadService,
  TriggerService,
  ToolService,
  WorkflowService,
  WorkspaceService,
].map(newerContract);

const requests = services.flatMap((service) =>
  service.methods.flatMap((method) =>
    placesIn(method.input).map(({ path, request }) => ({
      name: `${service.name}.${method.name}`,
      path,
      send: (transport: Transport) => call(service, method, request, transport),
    })),
  ),
);

function call(
  service: DescService,
  method: DescMethod,
  json: JsonObject,
  transport: Transport,
): Promise<unknown> | AsyncIterable<unknown> {
  const message = fromJson(method.input, json);
  const input =
    method.methodKind === "client_streaming"
      ? (async function* () {
          yield await Promise.resolve(message);
        })()
      : message;
  // A client whose methods are known only at run time.
  const client = createClient(service, transport) as unknown as Readonly<
    Record<string, (input: unknown) => Promise<unknown> | AsyncIterable<unknown>>
  >;
  const send = client[method.localName];
  if (send === undefined) throw new Error(`${service.name} has no method ${method.name}`);
  return send(input);
}

const transports: Readonly<Record<string, (baseUrl: string) => Transport>> = {
  ...protocols,
  "Connect with GET and JSON": (baseUrl) =>
    createConnectTransport({
      baseUrl,
      httpVersion: "1.1",
      useHttpGet: true,
      useBinaryFormat: false,
    }),
  "gRPC with JSON": (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: false }),
};

let bench: BenchWithAgent;

beforeAll(async () => {
  bench = await openBenchWithAgent();
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

test("every method, and every message in its request, is tried", () => {
  expect(new Set(requests.map(({ name }) => name)).size).toBe(
    services.reduce((sum, { methods }) => sum + methods.length, 0),
  );
  const names = requests.map(({ name, path }) => `${name} ${path}`);
  expect(names).toEqual(
    expect.arrayContaining([
      "AgentService.CreateAgent spec.deep_agent.network",
      "ApprovalService.DecideApproval ",
      "RunService.StartRun chat_context",
    ]),
  );
});

// Requirement: CFG-11, DUR-6
describe.each(Object.keys(transports))("over %s", (protocol) => {
  test("a field that only a newer contract has is refused, wherever it is in a request", async () => {
    const transport = authorized(
      transports[protocol]?.(bench.url) as Transport,
      `Bearer ${tokens.acme}`,
    );
    const isBinary = !protocol.includes("JSON");
    const ignored: string[] = [];
    for (const { name, path, send } of requests) {
      const suffix = isBinary ? String(addedField.number) : addedField.jsonName;
      const field = `${path === "" ? "" : `${path}.`}${suffix} UNKNOWN_FIELD`;
      const fields = await refusedFields(send(transport));
      if (!fields.includes(field)) ignored.push(`${name}: ${field} is not in [${fields.join()}]`);
    }
    expect(ignored).toEqual([]);
  });
});

/** Returns the fields that a call reports: in its refusal, or in its response, as ValidateAgent, relative to the spec, and ValidateWorkflow do. */
async function refusedFields(call: Promise<unknown> | AsyncIterable<unknown>) {
  if (Symbol.asyncIterator in call) return (await refusalOf(call)).fields;
  return await call.then(
    (response) => {
      const { violations = [] } = response as {
        readonly violations?: readonly { readonly field: string; readonly reason: string }[];
      };
      return violations.flatMap(({ field, reason }) => [
        `spec.${field} ${reason}`,
        `${field} ${reason}`,
      ]);
    },
    async (error: unknown) => (await refusalOf(Promise.reject(error as Error))).fields,
  );
}
