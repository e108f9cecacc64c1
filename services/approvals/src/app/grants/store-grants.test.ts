import { ApprovalState, GrantScope } from "@reeve/contracts/approval";
import { describe, expect, test } from "vitest";
import { GrantedRuns } from "../../../test/support/granted-runs.ts";
import { ada, noon } from "../../../test/support/parked-run.ts";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { listGrants } from "./list-grants.ts";
import { revokeGrant } from "./revoke-grant.ts";
import { assertRoomForGrant, storeGrant } from "./store-grants.ts";

const never = new AbortController().signal;
const everything = { agentId: "", runId: "", pageSize: 0, pageToken: "" };

const listed = async ({ ports }: GrantedRuns, request = {}, tenant: string = ada.tenant) => {
  const asked = { ...everything, ...request } as Parameters<typeof listGrants>[2];
  return (await listGrants(ports, tenant, asked, never)).items.map(({ rule }) => rule);
};

describe("a decision with a grant", () => {
  test("records the grant with its maker, its bounds, and the revision of the agent", async () => {
    const runs = await GrantedRuns.open();
    const id = await runs.asks({ threadId: "t" });
    const decided = await runs.grants(id, "pay(bob)", { scope: GrantScope.THREAD });
    const { grant } = decided.decision ?? {};
    expect(grant).toMatchObject({
      grantId: `grt_${id.slice(4)}`,
      scope: GrantScope.THREAD,
      rule: "pay(bob)",
      agentId: "buyer",
      agentRevision: 3,
      threadId: "t",
      approvalId: id,
      grantedBy: "ada",
      maxUses: 10,
      expiresAt: timestampFromMs(noon + 3_600_000),
    });
    expect((await runs.read(id))?.decision?.grant).toEqual(grant);
    expect(await runs.grant()).toEqual(grant);
  });

  test.each([
    ["pay(eve)", {}, "does not match the call"],
    ["mail(bob)", {}, "must begin with the name of the tool, pay"],
    ["p*", {}, "must begin with the name of the tool, pay"],
    ["pay(", {}, 'does not end with ")"'],
    ["pay", { scope: GrantScope.THREAD }, "the run has no thread"],
  ])("is refused for the rule %s", async (rule, more, why) => {
    const runs = await GrantedRuns.open();
    const id = await runs.asks();
    await expect(runs.grants(id, rule, more)).rejects.toThrow(why);
    expect((await runs.read(id))?.state).toBe(ApprovalState.PENDING);
    expect(await runs.grant()).toBeUndefined();
  });

  test("is refused if other people have to agree", async () => {
    const runs = await GrantedRuns.open();
    const two = { name: "two", people: ["ada", "bob"], approvals: 2, denials: 1 };
    const id = await runs.asks({ approval: { alternatives: [two] } });
    await expect(runs.grants(id, "pay")).rejects.toThrow("other people have to agree");
    const bob = { ...ada, subject: "bob" };
    await expect(runs.grants(id, "pay", {}, bob)).rejects.toThrow("other people have to agree");
  });

  test("stores the grant once: a revoked one does not come back", async () => {
    const runs = await GrantedRuns.open();
    const decided = await runs.grants(await runs.asks(), "pay");
    const grantId = decided.decision?.grant?.grantId ?? "";
    await revokeGrant(runs.ports, ada.tenant, { grantId, revokedBy: "eve" }, never);
    await storeGrant(runs.ports, ada.tenant, decided, never);
    expect((await runs.grant())?.revokedBy).toBe("eve");
    await runs.ports.grants.delete(`${ada.tenant}.${grantId}`, never);
    await runs.ports.clock.advance(600_001);
    await storeGrant(runs.ports, ada.tenant, decided, never);
    expect(await runs.grant()).toBeUndefined();
  });
});

describe("the grants of a tenant", () => {
  test("are listed newest first until they expire, and belong to it", async () => {
    const runs = await GrantedRuns.open();
    const first = await runs.asks();
    await runs.grants(first, "pay(bob)", { lifetime: { seconds: 60n } });
    await runs.ports.clock.advance(1_000);
    await runs.grants(await runs.asks({ agentId: "other" }), "pay");
    expect(await listed(runs)).toEqual(["pay", "pay(bob)"]);
    expect(await listed(runs, { agentId: "other" })).toEqual(["pay"]);
    expect(await listed(runs, { runId: first.split("-")[0] })).toEqual(["pay(bob)"]);
    expect(await listed(runs, {}, "other")).toEqual([]);
    const page = await listGrants(
      runs.ports,
      ada.tenant,
      { ...everything, pageSize: 1 } as Parameters<typeof listGrants>[2],
      never,
    );
    expect(await listed(runs, { pageToken: page.nextPageToken })).toEqual(["pay(bob)"]);
    const grantId = `grt_${first.slice(4)}`;
    const revoking = { grantId, revokedBy: "eve" };
    await expect(revokeGrant(runs.ports, "other", revoking, never)).rejects.toThrow("not found");
    await runs.ports.clock.advance(60_000);
    expect(await listed(runs)).toEqual(["pay"]);
    await expect(revokeGrant(runs.ports, ada.tenant, revoking, never)).rejects.toThrow("expired");
  });

  test("are revoked also before they are stored", async () => {
    const runs = await GrantedRuns.open();
    const decided = await runs.grants(await runs.asks(), "pay");
    const grantId = decided.decision?.grant?.grantId ?? "";
    // The process that decided died before it stored the grant.
    await runs.ports.grants.delete(`${ada.tenant}.${grantId}`, never);
    const revoking = { grantId, revokedBy: "eve" };
    await expect(revokeGrant(runs.ports, "other", revoking, never)).rejects.toThrow("not found");
    expect((await revokeGrant(runs.ports, ada.tenant, revoking, never)).revokedBy).toBe("eve");
    await storeGrant(runs.ports, ada.tenant, decided, never);
    expect((await runs.grant())?.revokedBy).toBe("eve");
    const id = await runs.asks();
    await using _ = runs.applying();
    await runs.settled();
    expect((await runs.read(id))?.state).toBe(ApprovalState.PENDING);
  });

  test("are limited", async () => {
    const runs = await GrantedRuns.open();
    const decided = await runs.grants(await runs.asks(), "pay");
    const grant = decided.decision?.grant;
    if (grant === undefined) throw new Error("there is no grant");
    for (let count = 0; count < 999; count++) {
      await runs.ports.grants.put(`${ada.tenant}.grt_${count}`, grant, never);
    }
    await expect(assertRoomForGrant(runs.ports, ada.tenant, never)).rejects.toMatchObject({
      kind: "exhausted",
    });
    await assertRoomForGrant(runs.ports, "other", never);
    await runs.ports.clock.advance(3_600_000);
    await assertRoomForGrant(runs.ports, ada.tenant, never);
    expect(await runs.ports.grants.list(ada.tenant, never)).toHaveLength(980);
  });
});
