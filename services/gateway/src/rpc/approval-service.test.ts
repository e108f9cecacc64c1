import { createClient, createContextValues, createRouterTransport } from "@connectrpc/connect";
import { ApprovalService } from "@reeve/contracts/approval";
import { authenticateInternally } from "@reeve/platform/rpc/internal-principal";
import type { Member } from "@reeve/platform/rpc/principal";
import { memberOf, setMemberships, setPrincipal } from "@reeve/platform/rpc/principal";
import { expect, test } from "vitest";
import { approvalService } from "./approval-service.ts";

const token = "internal-token-of-a-test";

/** Counts for a person in this many groups. Returns the answer, and who counted by the request that approvals received. */
async function countedFor(groups: number) {
  const seen: Member[] = [];
  const authenticate = authenticateInternally(token);
  const approvals = createRouterTransport((router) =>
    router.service(ApprovalService, {
      countApprovals: async (_, context) => {
        await authenticate({ ...context, service: ApprovalService });
        seen.push(memberOf(context));
        return { states: [{ state: 1, count: { count: 7 } }], waitingForMe: { count: 3 } };
      },
    }),
  );
  const handlers = approvalService(createClient(ApprovalService, approvals), token);
  const gateway = createRouterTransport((router) =>
    router.service(ApprovalService, {
      countApprovals: (request, context) => {
        setPrincipal(context.values, { tenant: "acme", subject: "ada" });
        const names = Array.from({ length: groups }, (_, index) => `group-${index}`);
        setMemberships(context.values, new Set(names));
        return handlers.countApprovals(request, context);
      },
    }),
  );
  const contextValues = createContextValues();
  const counts = await createClient(ApprovalService, gateway).countApprovals({}, { contextValues });
  return { counts, seen };
}

test("the approvals for the caller are counted by the groups of the credential", async () => {
  const { counts, seen } = await countedFor(2);
  expect(counts.waitingForMe?.count).toBe(3);
  expect(seen).toMatchObject([{ subject: "ada", groups: new Set(["group-0", "group-1"]) }]);
});

test("a credential with more groups than a call carries has all numbers but that of its own approvals", async () => {
  const { counts, seen } = await countedFor(501);
  expect(counts).toMatchObject({ states: [{ count: { count: 7 } }] });
  expect(counts.waitingForMe).toBeUndefined();
  expect(seen).toMatchObject([{ subject: "ada", groups: new Set() }]);
});
