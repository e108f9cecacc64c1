import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { isConfirmed } from "@reeve/agent/approval-times/needs-passkey";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import type { ApprovalSchema } from "@reeve/contracts/approval";
import { ApprovalState, DecideApprovalRequestSchema, GrantScope } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import {
  BeginConfirmationRequestSchema,
  RegisterPasskeyRequestSchema,
  RevokePasskeyRequestSchema,
} from "@reeve/contracts/passkey";
import { PermissionClass } from "@reeve/contracts/tool";
import { ruleViolations } from "@reeve/platform/strict/assert-valid";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import { describe, expect, test } from "vitest";
import { ada, approvalId, noon, parkedRun } from "../../../test/support/parked-run.ts";
import { SoftwareAuthenticator } from "../../../test/support/software-authenticator.ts";
import type { ApprovalPorts } from "../approval-ports.ts";
import type { Person } from "./passkey-ports.ts";
import { beginConfirmation, confirmationOf } from "./confirm-approval.ts";
import {
  beginRegistration,
  invitePasskey,
  listPasskeys,
  registerPasskey,
  revokePasskey,
} from "./register-passkey.ts";

const never = new AbortController().signal;
const site = { origin: "https://reeve.example.com", rpId: "reeve.example.com" };
const bob = { tenant: ada.tenant, subject: "bob" };
const callDigest = "a".repeat(64);
const refused = { kind: "denied", reason: ErrorReason.PASSKEY_REFUSED };
const required = { kind: "precondition", reason: ErrorReason.PASSKEY_REQUIRED };

type Ports = ApprovalPorts & Pick<Awaited<ReturnType<typeof waiting>>, "clock">;
type Init<Schema extends DescMessage> = Exclude<
  MessageInitShape<Schema>,
  { readonly $typeName: string }
>;
type Decided = Init<typeof DecideApprovalRequestSchema>;

/** A call of `pay` that waits, by an agent whose policy wants passkeys for it. */
function waiting(more: Init<typeof ApprovalSchema> = {}) {
  const spec = { approvalPolicy: { stepUp: { tools: ["pay"] }, allowEditedArguments: true } };
  const call = { name: "pay", arguments: { to: "bob" } };
  const paying = { requestedAt: timestampFromMs(noon), agentId: "buyer", call, callDigest };
  return parkedRun({ allowEditedArguments: true, ...paying, ...more }, [], { spec });
}

async function registered(ports: Ports, person: Person = ada): Promise<SoftwareAuthenticator> {
  const device = new SoftwareAuthenticator(site);
  const { invitation } = await invitePasskey(ports, person, "olga", never);
  const options = await beginRegistration(ports, person, invitation, never);
  const response = device.register(options);
  await registerPasskey(ports, person, registration(invitation, response), never);
  return device;
}

const registration = (
  invitation: string,
  response: ReturnType<SoftwareAuthenticator["register"]>,
) => create(RegisterPasskeyRequestSchema, { invitation, name: "laptop", response });

/** Begins the confirmation of an approval, as the console does. */
const begun = (ports: Ports, more: Decided = {}, person: Person = ada) => {
  const { editedArguments, breakGlass = false } = more;
  const given = { approvalId, callDigest, breakGlass, ...(editedArguments && { editedArguments }) };
  return beginConfirmation(ports, person, create(BeginConfirmationRequestSchema, given), never);
};

/** Decides as the service does. */
async function decide(ports: Ports, more: Decided, person: Person = ada) {
  const given = { approvalId, approved: true, callDigest, ...more };
  const request = create(DecideApprovalRequestSchema, given);
  const confirmation = await confirmationOf(ports, person, request, never);
  return await decideApproval(ports, { ...person, confirmation }, request, never);
}

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

describe("a confirmation", () => {
  test("is checked and recorded where none is needed, as another service may need it", async () => {
    const ports = await parkedRun({ call: { name: "pay" }, callDigest });
    const device = await registered(ports);
    const confirmation = device.confirm(await begun(ports));
    const glass = { confirmation, callDigest: "" };
    await expect(decide(ports, glass)).rejects.toMatchObject(refused);
    const good = device.confirm(await begun(ports));
    const decided = await decide(ports, { confirmation: good });
    const { credentialId } = device;
    expect(decided).toMatchObject({
      state: ApprovalState.APPROVED,
      decision: { stepUp: { credentialId } },
    });
  });

  test("is for one use", async () => {
    const ports = await waiting({ alternatives: [{ name: "1", approvals: 2, denials: 2 }] });
    const device = await registered(ports);
    const confirmation = device.confirm(await begun(ports));
    await decide(ports, { confirmation });
    await decide(ports, { approved: false });
    await expect(decide(ports, { confirmation })).rejects.toMatchObject(refused);
  });

  test("is refused of one of two copies of a passkey that confirm with the same counter", async () => {
    const ports = await waiting();
    const device = await registered(ports);
    const copies = await Promise.all(
      [1, 2].map(async () => device.confirm(await begun(ports), { counter: 6 })),
    );
    const confirmed = await Promise.all(
      copies.map(async (confirmation) => {
        const given = { approvalId, approved: true, callDigest, confirmation };
        const request = create(DecideApprovalRequestSchema, given);
        return await confirmationOf(ports, ada, request, never);
      }),
    );
    const results = await Promise.allSettled(confirmed.map(async (stepUp) => stepUp?.()));
    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({ reason: refused });
  });

  test("is one of at most eight that a person has begun, which need one record", async () => {
    const ports = await waiting();
    const device = await registered(ports);
    const { invitation } = await invitePasskey(ports, ada, "olga", never);
    const oldest = device.confirm(await begun(ports));
    for (let more = 0; more < 7; more++) await begun(ports);
    const confirmation = device.confirm(await begun(ports));
    const rows = await ports.ceremonies.list("", never);
    expect(rows.map(({ record }) => record.ceremonies.length)).toEqual([9]);
    await expect(decide(ports, { confirmation: oldest })).rejects.toMatchObject(refused);
    expect((await decide(ports, { confirmation })).state).toBe(ApprovalState.APPROVED);
    await expect(beginRegistration(ports, ada, invitation, never)).resolves.toBeDefined();
  });

  test("is for two minutes", async () => {
    const ports = await waiting();
    const device = await registered(ports);
    const confirmation = device.confirm(await begun(ports));
    await ports.clock.advance(120_000);
    await expect(decide(ports, { confirmation })).rejects.toMatchObject(refused);
  });

  test("is for one person, one call, and the arguments as they were edited", async () => {
    const ports = await waiting();
    const device = await registered(ports);
    const another = await registered(ports, bob);
    const editedArguments = { to: "mallory" };
    const ordinary = device.confirm(await begun(ports));
    await expect(decide(ports, { confirmation: ordinary, editedArguments })).rejects.toMatchObject(
      refused,
    );
    const ofBob = another.confirm(await begun(ports, {}, bob));
    await expect(decide(ports, { confirmation: ofBob })).rejects.toMatchObject(refused);
    const forAda = another.confirm(await begun(ports));
    await expect(decide(ports, { confirmation: forAda })).rejects.toMatchObject(refused);
    const without = device.confirm(await begun(ports));
    await expect(decide(ports, { confirmation: without, callDigest: "" })).rejects.toMatchObject(
      refused,
    );
    const edited = device.confirm(await begun(ports, { editedArguments }));
    const decided = await decide(ports, { confirmation: edited, editedArguments });
    expect(decided.decision).toMatchObject({ editedArguments });
  });

  test.each([
    ["from another site", { origin: "https://evil.example.com" }],
    ["for another host name", { rpId: "evil.example.com" }],
    ["without verification of the user", { verifiesUser: false }],
  ])("is refused %s", async (_, deviation) => {
    const ports = await waiting();
    const device = await registered(ports);
    const confirmation = device.confirm(await begun(ports), deviation);
    await expect(decide(ports, { confirmation })).rejects.toMatchObject(refused);
  });

  test("is refused with one changed byte, if it is malformed, and of a revoked passkey", async () => {
    const ports = await waiting();
    const device = await registered(ports);
    const good = device.confirm(await begun(ports));
    const response = good["response"] as Record<string, string>;
    const data = Buffer.from(response["authenticatorData"] ?? "", "base64url");
    data.writeUInt32BE(77, data.length - 4);
    const changed = {
      ...good,
      response: { ...response, authenticatorData: data.toString("base64url") },
    };
    await expect(decide(ports, { confirmation: changed })).rejects.toMatchObject(refused);
    for (const confirmation of [{}, { response: 1 }, { response: { clientDataJSON: "x" } }]) {
      await expect(decide(ports, { confirmation })).rejects.toMatchObject(refused);
    }
    const late = device.confirm(await begun(ports));
    const { credentialId } = device;
    expect(await revokePasskey(ports, ada, { credentialId }, never)).toBe(true);
    await expect(decide(ports, { confirmation: late })).rejects.toMatchObject(refused);
    await expect(begun(ports)).rejects.toMatchObject(required);
  });
});

describe("a passkey", () => {
  test("is registered with an invitation for this person, once, within a day", async () => {
    const ports = await waiting();
    const { invitation } = await invitePasskey(ports, ada, "olga", never);
    await expect(beginRegistration(ports, bob, invitation, never)).rejects.toMatchObject(refused);
    const elsewhere = { tenant: "globex", subject: "ada" };
    await expect(beginRegistration(ports, elsewhere, invitation, never)).rejects.toMatchObject(
      refused,
    );
    const [first, second] = [new SoftwareAuthenticator(site), new SoftwareAuthenticator(site)];
    const both = await Promise.all(
      [first, second].map(async (device) =>
        registration(
          invitation,
          device.register(await beginRegistration(ports, ada, invitation, never)),
        ),
      ),
    );
    const results = await Promise.allSettled(
      both.map((each) => registerPasskey(ports, ada, each, never)),
    );
    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await listPasskeys(ports, ada, never)).toHaveLength(1);
    const { invitation: later } = await invitePasskey(ports, ada, "olga", never);
    await ports.clock.advance(24 * 3_600_000);
    await expect(beginRegistration(ports, ada, later, never)).rejects.toMatchObject(refused);
  });

  test("is not registered without verification of the user, or with the challenge of another", async () => {
    const ports = await waiting();
    const device = new SoftwareAuthenticator(site);
    const { invitation } = await invitePasskey(ports, ada, "olga", never);
    const begin = () => beginRegistration(ports, ada, invitation, never);
    const unverified = device.register(await begin(), { verifiesUser: false });
    const register = (response: typeof unverified) =>
      registerPasskey(ports, ada, registration(invitation, response), never);
    await expect(register(unverified)).rejects.toMatchObject(refused);
    const foreign = await invitePasskey(ports, bob, "olga", never);
    const ofBob = await beginRegistration(ports, bob, foreign.invitation, never);
    await expect(register(device.register(ofBob))).rejects.toMatchObject(refused);
    await register(device.register(await begin()));
    expect(await listPasskeys(ports, ada, never)).toHaveLength(1);
  });

  test("is one of ten; a refused one does not use up the invitation, and the same one is replaced", async () => {
    const ports = await waiting();
    for (let count = 0; count < 9; count++) await registered(ports);
    const last = new SoftwareAuthenticator(site);
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map(() => invitePasskey(ports, ada, "olga", never)),
    );
    const register = async (invitation = "") => {
      const device = invitation === third?.invitation ? new SoftwareAuthenticator(site) : last;
      return device.register(await beginRegistration(ports, ada, invitation, never));
    };
    const begunNow = [await register(first?.invitation), await register(second?.invitation)];
    const another = await register(third?.invitation);
    const end = (given = "", response = another) =>
      registerPasskey(ports, ada, registration(given, response), never);
    await end(first?.invitation, begunNow[0]);
    await end(second?.invitation, begunNow[1]);
    const full = { kind: "exhausted" };
    await expect(end(third?.invitation)).rejects.toMatchObject(full);
    await expect(register(third?.invitation)).rejects.toMatchObject(full);
    const { credentialId } = last;
    expect(await listPasskeys(ports, ada, never)).toHaveLength(10);
    await revokePasskey(ports, ada, { credentialId }, never);
    await end(third?.invitation);
    expect(await listPasskeys(ports, ada, never)).toHaveLength(10);
  });

  test("has an id by which it can be revoked: at most 1,023 bytes, and the one that it signed", async () => {
    const ports = await waiting();
    const { invitation } = await invitePasskey(ports, ada, "olga", never);
    const register = async (
      idBytes: number,
      more: { readonly id?: string; readonly rawId?: string } = {},
    ) => {
      const device = new SoftwareAuthenticator(site, { idBytes });
      const response = device.register(await beginRegistration(ports, ada, invitation, never));
      const given = registration(invitation, { ...response, ...more });
      return await registerPasskey(ports, ada, given, never);
    };
    await expect(register(1_024)).rejects.toMatchObject(refused);
    await expect(register(16, { id: "AAAA", rawId: "AAAA" })).rejects.toMatchObject(refused);
    const { credentialId } = await register(1_023);
    expect(await revokePasskey(ports, ada, { credentialId }, never)).toBe(true);
    const stored = { credentialId: "A".repeat(9_750) };
    const request = create(RevokePasskeyRequestSchema, stored);
    expect(ruleViolations(RevokePasskeyRequestSchema, request)).toEqual([]);
  });

  test("is refused where the deployment has no address for passkeys", async () => {
    const ports = { ...(await waiting()), site: undefined };
    const failure = { reason: ErrorReason.PASSKEYS_NOT_CONFIGURED };
    await expect(invitePasskey(ports, ada, "olga", never)).rejects.toMatchObject(failure);
    await expect(begun(ports)).rejects.toMatchObject(failure);
  });
});
