import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { isConfirmed } from "@reeve/agent/approval-times/needs-passkey";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { ApprovalState, GrantScope } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { PermissionClass } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import { ada, approvalId, noon, parkedRun } from "../../../test/support/parked-run.ts";
import { listPasskeys } from "./register-passkey.ts";
import {
  bob,
  callDigest,
  refused,
  required,
  waiting,
  registered,
  begun,
  decide,
} from "../../../test/support/passkey-bench.ts";

const never = new AbortController().signal;

describe("an approval that needs a passkey", () => {
  test("takes effect with the confirmation of the person, which the decision records", async () => {
    const ports = await waiting();
    const device = await registered(ports);
    const confirmation = device.confirm(await begun(ports));
    await ports.clock.advance(119_999);
    const decided = await decide(ports, { confirmation, decisionId: "d1" });
    expect(decided).toMatchObject({
      state: ApprovalState.APPROVED,
      decision: {
        decidedBy: "ada",
        stepUp: { credentialId: device.credentialId, verifiedAt: timestampFromMs(noon + 119_999) },
      },
    });
    const repeated = await decide(ports, { confirmation, decisionId: "d1" });
    expect(repeated.revision).toBe(decided.revision);
    expect(await listPasskeys(ports, ada, never)).toMatchObject([
      { name: "laptop", invitedBy: "olga", lastUsedAt: timestampFromMs(noon + 119_999) },
    ]);
  });

  test("is refused without one, with the page on which people confirm it; a rejection is not", async () => {
    const ports = { ...(await waiting()), inboxUrl: (id: string) => `https://x.dev/inbox/${id}` };
    const url = `https://x.dev/inbox/${approvalId}`;
    await expect(decide(ports, {})).rejects.toMatchObject({
      ...required,
      message: expect.stringContaining(url) as unknown,
      metadata: { url },
    });
    const grant = { scope: GrantScope.RUN, rule: "pay(*)" };
    await expect(decide(ports, { grant })).rejects.toMatchObject({
      kind: "precondition",
      message: expect.stringContaining("no grant") as unknown,
    });
    expect((await decide(ports, { approved: false })).state).toBe(ApprovalState.REJECTED);
  });

  test("is refused by break-glass without one", async () => {
    const spec = {
      approvalPolicy: { stepUp: { tools: ["pay"] }, breakGlass: { people: ["ada"] } },
    };
    const ports = await parkedRun({ call: { name: "pay" }, callDigest }, [], {
      spec,
      startedBy: "ann",
    });
    const glass = { breakGlass: true, reason: "The payment system is down." };
    await expect(decide(ports, glass)).rejects.toMatchObject(required);
    const device = await registered(ports);
    const ordinary = device.confirm(await begun(ports));
    await expect(decide(ports, { ...glass, confirmation: ordinary })).rejects.toMatchObject(
      refused,
    );
    const confirmation = device.confirm(await begun(ports, glass));
    const decided = await decide(ports, { ...glass, confirmation });
    expect(decided).toMatchObject({ state: ApprovalState.APPROVED, decision: { stepUp: {} } });
  });

  test("is needed by the operator's policy, by tool or class, also where the class is not known", async () => {
    const text = `rules: []\napprovals:\n  step_up: [{ name: money, classes: [secrets] }]\n`;
    const times = () => parsePolicyFile(text, "policy.yaml").approvals;
    const needs = async (permissionClass: PermissionClass) => {
      const parked = await parkedRun({ call: { name: "pay" }, callDigest, permissionClass });
      return await decide({ ...parked, times }, {}).then(
        () => false,
        ({ reason }: { readonly reason: ErrorReason }) => reason === ErrorReason.PASSKEY_REQUIRED,
      );
    };
    expect(await needs(PermissionClass.SECRETS)).toBe(true);
    expect(await needs(PermissionClass.UNSPECIFIED)).toBe(true);
    expect(await needs(PermissionClass.SAFE)).toBe(false);
  });

  test("is a vote of each person, and one without a passkey does not count", async () => {
    const alternatives = [{ name: "1", people: ["ada", "bob"], approvals: 2, denials: 1 }];
    const ports = await waiting({ alternatives });
    const [first, second] = [await registered(ports), await registered(ports, bob)];
    const voted = await decide(ports, { confirmation: first.confirm(await begun(ports)) });
    expect(voted).toMatchObject({
      state: ApprovalState.PENDING,
      votes: [{ decision: { stepUp: {} } }],
    });
    await expect(decide(ports, {}, bob)).rejects.toMatchObject(required);
    const confirmation = second.confirm(await begun(ports, {}, bob));
    expect((await decide(ports, { confirmation }, bob)).state).toBe(ApprovalState.APPROVED);
  });

  test("does not count the approvals of before it needed one, until the person confirms them", async () => {
    const alternatives = [{ name: "1", people: ["ada", "bob"], approvals: 2, denials: 2 }];
    const text = `rules: []\napprovals:\n  step_up: [{ name: money, tools: [pay] }]\n`;
    const times = () => parsePolicyFile(text, "policy.yaml").approvals;
    const before = await parkedRun({ call: { name: "pay" }, callDigest, alternatives });
    expect((await decide(before, {})).alternatives).toMatchObject([{ approvalsGiven: 1 }]);
    const ports = { ...before, times };
    const [first, second] = [await registered(ports), await registered(ports, bob)];
    const ofBob = second.confirm(await begun(ports, {}, bob));
    const voted = await decide(ports, { confirmation: ofBob }, bob);
    expect(voted).toMatchObject({ state: ApprovalState.PENDING, votes: [{}, {}] });
    await expect(decide(ports, {})).rejects.toMatchObject(required);
    const ofAda = first.confirm(await begun(ports));
    const decided = await decide(ports, { confirmation: ofAda });
    expect(decided.state).toBe(ApprovalState.APPROVED);
    expect(isConfirmed(decided)).toBe(true);
  });
});
