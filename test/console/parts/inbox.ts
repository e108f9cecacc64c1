import { GrantScope } from "@reeve/contracts/approval";
import { runOfApproval } from "@reeve/run/approvals/approval-id";
import { expect, test } from "vitest";
import type { ConsoleFixture } from "../support/console-fixture.ts";
import { approver } from "../support/console-fixture.ts";
import { expectAccessible } from "../support/expect-accessible.ts";

/** What the inbox shows and what it decides, of several decisions. */
export function describeInbox(fixture: () => ConsoleFixture): void {
  test("shows the decision that the address names, and decides nothing that filters have replaced", async () => {
    const { url, reeve } = fixture().deployment;
    const decidedId = await fixture().waiting("payer");
    const waitingId = await fixture().waiting("payer");
    const reason = "Ann was paid by hand.";
    await reeve.approvals.decideApproval({ approvalId: decidedId, approved: false, reason });
    await using shown = await fixture().open(`/inbox/${decidedId}`);
    const { page } = shown;
    const choice = page.getByRole("checkbox", { name: waitingId });
    await choice.waitFor();
    await page.getByRole("heading", { name: "add_todo waits no more" }).waitFor();
    await page.getByText("Decided by tester").waitFor();
    expect(await page.locator(".inbox-chosen").textContent()).toContain(reason);
    expect(await page.getByRole("button", { name: "Approve", exact: true }).count()).toBe(0);
    expect(page.url()).toBe(`${url}/inbox/${decidedId}`);

    const decision = page.getByRole("region", { name: "Decision about several calls" });
    await choice.check();
    await decision.getByText("1 decision chosen").waitFor();
    // Each of the filters also matches what was chosen.
    await page.getByLabel("Agent").selectOption("payer");
    await decision.waitFor({ state: "detached" });
    await choice.waitFor();
    expect(await choice.isChecked()).toBe(false);
    await choice.check();
    await page.getByRole("button", { name: "Clear" }).click();
    await decision.waitFor({ state: "detached" });
    await choice.waitFor();
    expect(await choice.isChecked()).toBe(false);
    await reeve.runs.cancelRun({ runId: runOfApproval(waitingId) });
    // An approval may be named before the inbox has it.
    expect(shown.problems.filter((each) => !each.includes("404"))).toEqual([]);
  });

  test("offers a decision to those who may make it, and leads to the next one of theirs", async () => {
    const { reeve } = fixture().deployment;
    const votedId = await fixture().waiting("two-payers");
    const nextId = await fixture().waiting("two-payers");
    await using shown = await fixture().open(
      `/inbox/${votedId}?agent=two-payers`,
      "light",
      approver,
    );
    const { page } = shown;
    const next = page.locator(`a[href*="${nextId}"]`);
    await next.waitFor();
    await page.getByRole("heading", { name: "waits for your decision" }).waitFor();
    await page.getByLabel("Reason").fill("Ann has worked.");
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    const notice = page.getByRole("status").filter({ hasText: "Your vote about add_todo" });
    await notice.getByText("anyone with the role approver, but not paula").waitFor();
    await page.locator(`a[href*="${nextId}"][aria-current]:focus`).waitFor();
    await page.locator(`a[href*="${votedId}"]`).click();
    await page.getByRole("heading", { name: "waits for the decision of somebody else" }).waitFor();
    await page.getByLabel("Votes").getByText("Ann has worked.").waitFor();
    expect(await page.getByRole("button", { name: "Approve", exact: true }).count()).toBe(0);
    await expectAccessible(page);
    for (const id of [votedId, nextId]) {
      await reeve.runs.cancelRun({ runId: runOfApproval(id) });
    }
    expect(shown.problems.filter((each) => !each.includes("404"))).toEqual([]);
  });

  test("makes a rule with a decision, by which calls are approved, lists it, and revokes it", async () => {
    const { approvals } = fixture().deployment.reeve;
    const approvalId = await fixture().waiting("payer");
    await using shown = await fixture().open(`/inbox/${approvalId}`);
    const { page } = shown;
    await page.getByRole("button", { name: "Approve further calls, too" }).click();
    const rule = page.getByLabel("Rule", { exact: true });
    await page
      .getByText("It leaves free: ")
      .or(page.getByText("It leaves no argument free."))
      .waitFor();
    expect(await rule.inputValue()).toContain("add_todo(");
    const approve = page.getByRole("button", { name: "Approve this and further calls" });
    await rule.fill("add_todo(");
    await page.getByText(/^The rule /).waitFor();
    expect(await approve.isDisabled()).toBe(true);
    await rule.fill("add_todo");
    await page.getByText("It matches all calls of the tool").waitFor();
    await page.getByLabel("Calls at most").fill("5");
    await expectAccessible(page);
    await approve.click();
    await page.getByRole("button", { name: "Rules in force" }).click();
    await page.getByRole("cell", { name: "add_todo", exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No rule is in force").waitFor();
    const { grants } = await approvals.listGrants({});
    expect(grants).toMatchObject([
      { rule: "add_todo", scope: GrantScope.RUN, maxUses: 5, revokedBy: "tester" },
    ]);
    // An approval may be named before the inbox has it.
    expect(shown.problems.filter((each) => !each.includes("404"))).toEqual([]);
  });
}
