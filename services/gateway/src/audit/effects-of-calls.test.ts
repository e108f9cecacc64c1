import type { Interceptor } from "@connectrpc/connect";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { ApprovalService } from "@reeve/contracts/approval";
import type { AuditEvent } from "@reeve/contracts/audit";
import { AuditRecorder } from "@reeve/jetstream/audit/recorder";
import { systemClock } from "@reeve/platform/async/clock";
import { reportEffect } from "@reeve/platform/rpc/outcome/call-effect";
import { fixedCredentials } from "@reeve/platform/rpc/credentials/bearer-tokens";
import { authenticate } from "@reeve/platform/rpc/principal";
import { allRoles } from "@reeve/platform/rpc/roles";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { approvalService } from "../rpc/approval-service.ts";
import { auditCalls } from "./audit-calls.ts";
import { RepeatedChanges } from "./repeated-changes.ts";
import { RepeatedRefusals } from "./repeated-refusals.ts";

const token = "token-of-ann-0123456789";
const ann = { tenant: "acme", subject: "ann", roles: allRoles };

/** Returns a client of a gateway whose store is full, and the changes that its trail has. */
function bench() {
  const decided = new Set<string>();
  const approvals = createRouterTransport(({ service }) => {
    service(ApprovalService, {
      decideApproval: ({ approvalId }, context) => {
        if (!decided.has(approvalId)) reportEffect(context);
        decided.add(approvalId);
        return { approval: { approvalId } };
      },
    });
  });
  const recorded: AuditEvent[] = [];
  const record = (event: AuditEvent) => void recorded.push(event);
  const changes = new RepeatedChanges({
    recorder: { record: async (event) => record(event), noteChange: record },
    isReserveUsed: () => true,
    clock: { now: () => 0 },
  });
  const recorder = new AuditRecorder({
    mode: "best-effort",
    clock: systemClock,
    log: createLogger("test", "silent"),
  });
  const refused = new RepeatedRefusals(10, record);
  const admit = authenticate(fixedCredentials(new Map([[token, ann]])));
  const admitting: Interceptor = (next) => async (request) => {
    const { service, method, header: requestHeader, contextValues: values } = request;
    await admit({ service, method, requestHeader, values });
    return await next(request);
  };
  const audited = auditCalls({ recorder, changes, refused, clock: { now: () => 0 } });
  const gateway = createRouterTransport(
    ({ service }) => {
      service(ApprovalService, approvalService(createClient(ApprovalService, approvals), "token"));
    },
    { router: { interceptors: [admitting, audited] } },
  );
  const client = createClient(ApprovalService, gateway);
  const headers = { authorization: `Bearer ${token}` };
  const decide = (approvalId: string, breakGlass = false) =>
    client.decideApproval({ approvalId, approved: true, breakGlass, reason: "down" }, { headers });
  const named = () => recorded.map(({ resources, count }) => `${resources[0]?.id} ${count}`);
  return { decide, named, flush: () => changes.flush(Infinity) };
}

test("in a full store, every decision is recorded with its approval, also by break-glass, and requests without an effect are counted", async () => {
  const { decide, named, flush } = bench();
  const ids = Array.from({ length: 101 }, (_, index) => `run_a-${index}-0`);
  for (const id of ids) await decide(id);
  expect(named()).toEqual(ids.map((id) => `${id} 1`));
  for (const id of [...ids, ...ids]) await decide(id);
  expect(named()).toHaveLength(202);
  await decide("run_b-1-0", true);
  expect(named().at(-1)).toBe("run_b-1-0 1");
  flush();
  expect(named().slice(203)).toEqual([...ids.slice(0, 100).map((id) => `${id} 1`), "undefined 1"]);
});
