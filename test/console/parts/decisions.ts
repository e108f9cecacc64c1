import { readFileSync } from "node:fs";
import { ApprovalState } from "@reeve/contracts/approval";
import { openEnvelope } from "@reeve/run/receipts/envelope";
import { expect, test } from "vitest";
import { watchToEnd } from "../../system/support/watching.ts";
import type { ConsoleFixture } from "../support/console-fixture.ts";
import { receiptKey, runner, viewer } from "../support/console-fixture.ts";
import { expectAccessible } from "../support/expect-accessible.ts";

/** Approvals and questions, and what the roles do not permit. */
export function describeDecisions(fixture: () => ConsoleFixture): void {
  test("approves with edited arguments, which are checked while they are written", async () => {
    const runId = await fixture().started("Pay ann.", "payer");
    await using shown = await fixture().open("/inbox");
    const { page } = shown;
    await page.locator(".approval").getByText("pay 100 to ann").waitFor();
    await expectAccessible(page);
    await fixture().picture(shown, "inbox");
    // The run names the schemas of all its tools; the deployment lists only those of toolhosts.
    await page.getByRole("link", { name: "Show the run" }).click();
    // Until the next screen is loaded, the inbox stays, with a button of the same name.
    await page.getByRole("heading", { name: "Pay ann.", exact: true }).waitFor();
    await page.getByRole("button", { name: "Edit arguments" }).waitFor();
    await page.keyboard.press("e");
    await page.keyboard.press("Enter");
    const editor = page.getByLabel("Arguments as JSON");
    const approve = page.getByRole("button", { name: "Approve with these arguments" });
    await editor.fill('{"txt": 1}');
    await page.locator(".violations li").first().waitFor();
    expect(await approve.isDisabled()).toBe(true);
    await editor.fill('{"text": "pay 1 to ann"}');
    await approve.click();
    await page.locator('[data-connection="ended"]').waitFor();
    await watchToEnd(fixture().deployment, runId);
    const { approvals } = await fixture().deployment.reeve.approvals.listApprovals({
      runId,
      includeClosed: true,
    });
    expect(approvals).toMatchObject([
      {
        state: ApprovalState.APPROVED,
        decision: { editedArguments: { text: "pay 1 to ann" }, decidedBy: "tester" },
      },
    ]);
    await page.getByRole("button", { name: "1 decision" }).click();
    const decided = page.getByLabel("Decisions").getByRole("listitem");
    expect(await decided.textContent()).toMatch(/^add_todo approved by tester at [\d:]+$/);
    // The same worker continues the run after the decision.
    expect(await page.getByText("The worker was lost").count()).toBe(0);
    await page.goto(`${fixture().deployment.url}/inbox`);
    await page.getByText("Decided before").click();
    const name = `Save the receipt of ${approvals[0]?.approvalId}`;
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name }).click(),
    ]);
    await expectAccessible(page);
    const receipt = readFileSync(await saved.path(), "utf8");
    expect(openEnvelope(receipt, [receiptKey])).toMatchObject({ kind: "verified" });
    expect(shown.problems).toEqual([]);
  });

  test("answers a question of the agent with a choice, as the person who started the run", async () => {
    const runId = await fixture().started("Order lunch.", "waiter");
    await using shown = await fixture().open(`/runs/${runId}`, "light", runner);
    const { page } = shown;
    await page.getByText("Which dish?").first().waitFor();
    const answer = page.getByRole("button", { name: "Answer", exact: true });
    expect(await answer.isDisabled()).toBe(true);
    await expectAccessible(page);
    await page.getByLabel("salad").check();
    await answer.click();
    await page.getByText('Ordered: {"answer":"salad"}').first().waitFor();
    const { run } = await fixture().deployment.reeve.runs.getRun({ runId });
    expect(run?.pendingApprovals).toEqual([]);
    expect(shown.problems).toEqual([]);
  });

  test("a viewer reads why the roles do not permit something", async () => {
    const runId = await fixture().started("Pay bob.", "payer");
    await using shown = await fixture().open(`/runs/${runId}`, "light", viewer);
    const { page } = shown;
    await page.getByText("Deciding needs the role approver. You have viewer.").waitFor();
    expect(await page.getByRole("button", { name: "Approve", exact: true }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "Cancel run" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Audit" }).count()).toBe(0);
    await page.getByRole("link", { name: "Operate" }).click();
    await page.getByRole("heading", { name: "Quotas" }).waitFor();
    expect(await page.getByRole("heading", { name: "Workers and toolhosts" }).count()).toBe(0);
    expect(await page.getByRole("heading", { name: "Tokens and roles" }).count()).toBe(0);
    await page.goto(`${fixture().deployment.url}/audit`);
    await page.getByText("Your roles do not permit this").waitFor();
    // A link to a run of another tenant says for whom links work.
    await page.goto(`${fixture().deployment.url}/runs/run_of_others`);
    await page.getByText(/works for everyone in its tenant with the role viewer/).waitFor();
    await page.getByText(/of the tenant acme, with viewer/).waitFor();
    const { run } = await fixture().deployment.reeve.runs.getRun({ runId });
    expect(run?.pendingApprovals).toHaveLength(1);
    await fixture().deployment.reeve.runs.cancelRun({ runId });
  });
}
