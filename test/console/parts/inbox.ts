import { runOfApproval } from "@reeve/run/approvals/approval-id";
import { expect, test } from "vitest";
import type { ConsoleFixture } from "../support/console-fixture.ts";

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
}
