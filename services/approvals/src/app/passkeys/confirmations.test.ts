import { create } from "@bufbuild/protobuf";
import { ApprovalState, DecideApprovalRequestSchema } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { BeginConfirmationRequestSchema } from "@reeve/contracts/passkey";
import { CheckedRule, QueueHolderSchema } from "@reeve/contracts/queue";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { ruleViolations } from "@reeve/platform/strict/assert-valid";
import { describe, expect, test } from "vitest";
import { ada, approvalId, parkedRun } from "../../../test/support/parked-run.ts";
import { beginConfirmation, confirmationOf } from "./confirm-approval.ts";
import type { Person } from "./passkey-ports.ts";
import { beginRegistration, invitePasskey, revokePasskey } from "./register-passkey.ts";
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
const mismatch = { kind: "precondition", reason: ErrorReason.APPROVAL_MISMATCH };

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
    const refusals = confirmed.flatMap((each) => each?.refusal ?? []);
    expect(refusals).toMatchObject([refused]);
    expect(confirmed.filter((each) => each?.refusal === undefined)).toHaveLength(1);
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

  test("is begun for an approval of the tenant that waits, and for its call only", async () => {
    const ports = await waiting();
    await registered(ports);
    const begin = (more: object, person: Person = ada) =>
      beginConfirmation(
        { ...ports, staleUntilMs: 0 },
        person,
        create(BeginConfirmationRequestSchema, { approvalId, callDigest, ...more }),
        never,
      );
    const unknown = { approvalId: approvalId.replace("-3-0", "-4-0") };
    await expect(begin({ callDigest: "b".repeat(64) })).rejects.toMatchObject(mismatch);
    await expect(begin({ callDigest: "" })).rejects.toMatchObject(mismatch);
    await expect(begin({ approvalId: "nonsense" })).rejects.toMatchObject({ kind: "not_found" });
    const stranger = { tenant: "globex", subject: "ada" };
    await registered(ports, stranger);
    await expect(begin({}, stranger)).rejects.toMatchObject({ kind: "not_found" });
    await decide(ports, { approved: false });
    await expect(begin({})).rejects.toMatchObject({ reason: ErrorReason.APPROVAL_CLOSED });
    await expect(begin(unknown)).rejects.toMatchObject({ kind: "not_found" });
    expect((await ports.ceremonies.list("acme", never))[0]?.record.ceremonies).toEqual([]);
  });

  test("is for an approval without a digest, which a runtime of an earlier version requested", async () => {
    const ports = await waiting({ callDigest: "" });
    const device = await registered(ports);
    const request = create(BeginConfirmationRequestSchema, { approvalId });
    expect(ruleViolations(BeginConfirmationRequestSchema, request)).toEqual([]);
    const confirmation = device.confirm(await beginConfirmation(ports, ada, request, never));
    const decided = await decide(ports, { confirmation, callDigest: "" });
    expect(decided.state).toBe(ApprovalState.APPROVED);
  });

  test("is refused while a runtime is alive that would execute the call without one, by its name", async () => {
    const ports = await waiting();
    const device = await registered(ports);
    const confirmation = device.confirm(await begun(ports));
    const holder = (name: string, more: object = {}) =>
      ports.holders.put(name, create(QueueHolderSchema, { holder: name, ...more }), never);
    await holder("runtime-new", { checks: [CheckedRule.STEP_UP] });
    await holder("runtime-new-dead", { checks: [CheckedRule.STEP_UP], crashed: true });
    await holder("host-1");
    await begun(ports);
    // Others took it for dead, but it may only have lost its connection.
    await holder("runtime-old", { crashed: true });
    const outdated = {
      kind: "precondition",
      reason: ErrorReason.RUNTIME_OUTDATED,
      metadata: { runtimes: "runtime-old", field: "approval_policy.step_up" },
    };
    await expect(begun(ports)).rejects.toMatchObject(outdated);
    await expect(decide(ports, { confirmation })).rejects.toMatchObject(outdated);
    // Rejections need no passkey, and the confirmation stays valid for the end of the update.
    await ports.holders.delete("runtime-old", never);
    expect((await decide(ports, { confirmation })).state).toBe(ApprovalState.APPROVED);
  });

  test("is refused while the runtimes are not known", async () => {
    const ports = await waiting();
    const device = await registered(ports);
    const confirmation = device.confirm(await begun(ports));
    const holders = { list: () => Promise.reject(storeUnavailable()) };
    await expect(decide({ ...ports, holders }, { confirmation })).rejects.toMatchObject({
      kind: "unavailable",
    });
    expect((await decide(ports, { confirmation })).state).toBe(ApprovalState.APPROVED);
  });

  test("is refused if it was made in a page of another site", async () => {
    const ports = await waiting();
    const device = await registered(ports);
    const confirmation = device.confirm(await begun(ports), { crossOrigin: true });
    await expect(decide(ports, { confirmation })).rejects.toMatchObject(refused);
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
