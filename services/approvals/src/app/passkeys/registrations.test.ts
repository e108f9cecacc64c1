import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { RevokePasskeyRequestSchema } from "@reeve/contracts/passkey";
import { ruleViolations } from "@reeve/platform/strict/assert-valid";
import { describe, expect, test } from "vitest";
import { ada } from "../../../test/support/parked-run.ts";
import { SoftwareAuthenticator } from "../../../test/support/software-authenticator.ts";
import {
  beginRegistration,
  invitePasskey,
  listPasskeys,
  registerPasskey,
  revokePasskey,
} from "./register-passkey.ts";
import {
  site,
  bob,
  refused,
  waiting,
  registered,
  registration,
  begun,
  required,
} from "../../../test/support/passkey-bench.ts";

const never = new AbortController().signal;

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
    for (let count = 0; count < 8; count++) await registered(ports);
    const last = new SoftwareAuthenticator(site);
    const register = async (invitation: string, device = last) => {
      const response = device.register(await beginRegistration(ports, ada, invitation, never));
      return await registerPasskey(ports, ada, registration(invitation, response), never);
    };
    const invite = async () => (await invitePasskey(ports, ada, "olga", never)).invitation;
    await register(await invite());
    await register(await invite());
    expect(await listPasskeys(ports, ada, never)).toHaveLength(9);
    await registered(ports);
    const more = await invite();
    const another = new SoftwareAuthenticator(site);
    await expect(register(more, another)).rejects.toMatchObject({ kind: "exhausted" });
    const { credentialId } = last;
    await revokePasskey(ports, ada, { credentialId }, never);
    await register(more, another);
    expect(await listPasskeys(ports, ada, never)).toHaveLength(10);
  });

  test("cannot be registered with an invitation that the operator has replaced by another one", async () => {
    const ports = await waiting();
    const { invitation: stolen } = await invitePasskey(ports, ada, "olga", never);
    await invitePasskey(ports, ada, "olga", never);
    await expect(beginRegistration(ports, ada, stolen, never)).rejects.toMatchObject(refused);
  });

  test("of a former address of the deployment is not offered, and does not count among the ten", async () => {
    const ports = await waiting();
    for (let count = 0; count < 10; count++) await registered(ports);
    const moved = { origin: "https://new.example.com", rpId: "new.example.com" };
    const there = { ...ports, site: moved };
    await expect(begun(there)).rejects.toMatchObject(required);
    const { invitation } = await invitePasskey(there, ada, "olga", never);
    const options = await beginRegistration(there, ada, invitation, never);
    expect(options["excludeCredentials"]).toEqual([]);
    const response = new SoftwareAuthenticator(moved).register(options);
    await registerPasskey(there, ada, registration(invitation, response), never);
    const offered = (await begun(there))["allowCredentials"];
    expect(offered).toHaveLength(1);
  });

  test("keeps the transports that WebAuthn names, and nothing else that a response says", async () => {
    const ports = await waiting();
    const { invitation } = await invitePasskey(ports, ada, "olga", never);
    const options = await beginRegistration(ports, ada, invitation, never);
    const given = new SoftwareAuthenticator(site).register(options);
    const transports = ["internal", "smart-card", "carrier-pigeon", 5, { a: 1 }];
    const inner = given["response"] as JsonObject;
    const response = { ...given, response: { ...inner, transports } };
    await registerPasskey(ports, ada, registration(invitation, response), never);
    const [row] = await ports.passkeys.list("", never);
    expect(row?.record.passkeys[0]?.transports).toEqual(["internal", "smart-card"]);
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
