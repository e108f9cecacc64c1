import { fromBinary } from "@bufbuild/protobuf";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import type { DecideApprovalRequest } from "@reeve/contracts/approval";
import { ApprovalState, DecideApprovalRequestSchema } from "@reeve/contracts/approval";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { reasonName } from "@reeve/platform/reason-name";
import { runOfApproval } from "@reeve/run/approvals/approval-id";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { watchToEnd } from "../../system/support/watching.ts";
import { addAuthenticator } from "../support/add-authenticator.ts";
import type { ConsoleFixture } from "../support/console-fixture.ts";
import { approver } from "../support/console-fixture.ts";
import { expectAccessible } from "../support/expect-accessible.ts";

/** Passkeys, from the invitation to what a confirmation is good for. */
export function describePasskeys(fixture: () => ConsoleFixture): void {
  test("registers a passkey by invitation, and confirms one approval with each use of it", async () => {
    const { deployment, passkeySite } = fixture();
    using paula = openConnection({ address: deployment.url, token: approver });
    const approvalId = await fixture().waiting("passkey-payer");
    await using shown = await fixture().open("/passkeys", "light", approver, passkeySite);
    const { page } = shown;
    await addAuthenticator(page);
    await page.getByText("You have no passkey").waitFor();

    // Without a passkey, nobody approves: not by the page, and not past it.
    await page.goto(`${passkeySite}/inbox/${approvalId}`);
    await page.getByText("exactly this call with your passkey").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("paula has no passkey").waitFor();
    expect(await refusalOf(paula, { approvalId, approved: true })).toBe("PASSKEY_REQUIRED");

    const { invitation } = await deployment.reeve.passkeys.invitePasskey({ personId: "paula" });
    await page.goto(`${passkeySite}/passkeys`);
    await page.getByLabel("Invitation").fill(invitation);
    await page.getByLabel("Name").fill("Laptop");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByRole("cell", { name: "Laptop", exact: true }).waitFor();
    await expectAccessible(page);
    const { passkeys } = await paula.passkeys.listPasskeys({});
    expect(passkeys).toMatchObject([{ name: "Laptop", invitedBy: "tester" }]);
    expect(await refusalOf(paula, { approvalId, approved: true })).toBe("PASSKEY_REQUIRED");

    await page.goto(`${passkeySite}/inbox/${approvalId}`);
    await approveIn(page);
    const events = await watchToEnd(deployment, runOfApproval(approvalId));
    const recorded = events.map(({ event }) => event).findLast((each) => each.case === "approval");
    expect(recorded?.value.approval).toMatchObject({
      state: ApprovalState.APPROVED,
      decision: { decidedBy: "paula", stepUp: { credentialId: passkeys[0]?.credentialId } },
    });

    // A vote can be changed, so that the same confirmation could be sent again.
    const voteId = await fixture().waiting("passkey-voters");
    await page.goto(`${passkeySite}/inbox/${voteId}`);
    const { confirmation = {}, callDigest } = await approveIn(page);
    expect(await refusalOf(paula, { approvalId: voteId, approved: false })).toBeUndefined();
    const again = { approvalId: voteId, approved: true, callDigest, confirmation };
    expect(await refusalOf(paula, again)).toBe("PASSKEY_REFUSED");
    await deployment.reeve.runs.cancelRun({ runId: runOfApproval(voteId) });

    await page.goto(`${passkeySite}/passkeys`);
    await page.getByRole("button", { name: "Revoke Laptop" }).click();
    await page.getByText("You have no passkey").waitFor();
    // The browser reports what is refused without a passkey, and an approval that the inbox does not have yet.
    expect(shown.problems.filter((each) => !/40[04]/.test(each))).toEqual([]);
  });
}

/** Approves what the page shows. Returns the decision that the server has accepted. */
async function approveIn(page: Page): Promise<DecideApprovalRequest> {
  const [response] = await Promise.all([
    page.waitForResponse((each) => each.url().endsWith("/DecideApproval")),
    page.getByRole("button", { name: "Approve", exact: true }).click(),
  ]);
  expect(response.status()).toBe(200);
  const body = response.request().postDataBuffer() ?? new Uint8Array();
  return fromBinary(DecideApprovalRequestSchema, body);
}

/** Returns the reason for which a decision is refused, or undefined if it is accepted. */
async function refusalOf(
  { approvals }: Connection,
  decision: Parameters<Connection["approvals"]["decideApproval"]>[0],
): Promise<string | undefined> {
  const refused = await approvals.decideApproval(decision).then(() => undefined, failureFrom);
  return refused && reasonName(refused.reason);
}
