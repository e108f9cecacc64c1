import { create } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import { AgentService, CreateAgentRequestSchema } from "@reeve/contracts/agent";
import {
  ApprovalService,
  DecideApprovalRequestSchema,
  DecideApprovalResponseSchema,
} from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { RunService, StartRunRequestSchema, StartRunResponseSchema } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { bounded } from "./bounded.ts";
import { eventOf } from "./build-event.ts";
import { outcomeOf, succeeded } from "./call-outcome.ts";
import { choicesOf, resourcesOf } from "./call-resources.ts";

const never = new AbortController().signal;
const times = { nowMs: 1_500, startedAtMs: 1_000 };

test("resources are the ids of the request and of the response, and nothing that is not set", () => {
  const request = create(StartRunRequestSchema, { agentId: "writer", input: "a secret" });
  const response = create(StartRunResponseSchema, { run: { runId: "run_1", output: "a secret" } });
  expect(resourcesOf(RunService.method.startRun, { request, response })).toEqual([
    { kind: "agent", id: "writer" },
    { kind: "run", id: "run_1" },
  ]);
  expect(resourcesOf(RunService.method.startRun, {})).toEqual([]);
  const unset = create(CreateAgentRequestSchema, {});
  expect(resourcesOf(AgentService.method.createAgent, { request: unset })).toEqual([]);
});

test("ids and headers of clients are bounded, and have no control characters", () => {
  const request = create(CreateAgentRequestSchema, {
    spec: { id: `a\u001b[2J${"b".repeat(999)}` },
  });
  const [resource] = resourcesOf(AgentService.method.createAgent, { request });
  expect(resource?.id).toMatch(/^a \[2Jb+…$/);
  expect(resource?.id).toHaveLength(256);
  const header = new Headers({ "user-agent": "u".repeat(999), "x-request-id": "r".repeat(999) });
  const call = { method: RunService.method.startRun, header, values: createContextValues() };
  const event = eventOf(call, succeeded, times, { action: "run.start" });
  expect([event.userAgent.length, event.requestId.length]).toEqual([200, 128]);
  expect(bounded("😀😀", 3).isWellFormed()).toBe(true);
});

test("a decision has its choice, and not its reason or arguments", () => {
  const request = create(DecideApprovalRequestSchema, {
    approvalId: "ap_1",
    approved: false,
    reason: "a secret",
    editedArguments: { path: "a secret" },
  });
  const { decideApproval: method } = ApprovalService.method;
  expect(choicesOf(method, { request })).toEqual({ approved: false, break_glass: false });
  expect(resourcesOf(method, { request })).toEqual([{ kind: "approval", id: "ap_1" }]);
});

test("a decision names the grant that it makes", () => {
  const { decideApproval: method } = ApprovalService.method;
  const decision = { grant: { grantId: "grt_1", rule: "a secret" } };
  const approval = { runId: "run_1", decision };
  const response = create(DecideApprovalResponseSchema, { approval });
  expect(resourcesOf(method, { response })).toEqual([
    { kind: "run", id: "run_1" },
    { kind: "grant", id: "grt_1" },
  ]);
});

test("an event has the duration and the trace of its call", () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const header = new Headers({ traceparent: `00-${traceId}-b7ad6b7169203331-01` });
  const call = { method: RunService.method.startRun, header, values: createContextValues() };
  const event = eventOf(call, succeeded, times, { action: "run.start" });
  expect(event).toMatchObject({
    traceId,
    duration: { seconds: 0n, nanos: 500_000_000 },
    tenant: "",
    subject: "",
    method: "reeve.run.v1.RunService/StartRun",
  });
});

test("an error becomes a status with its reason, and its text is left out", () => {
  const failure = new Failure("not_found", ErrorReason.RUN_NOT_FOUND, "a secret");
  expect(outcomeOf(failure, never)).toEqual({ code: "NOT_FOUND", reason: "RUN_NOT_FOUND" });
  expect(outcomeOf(new Error("a secret"), never)).toEqual({ code: "INTERNAL", reason: "" });
  const left = AbortSignal.abort();
  expect(outcomeOf(new Error("left"), left)).toEqual({ code: "CANCELLED", reason: "" });
});
