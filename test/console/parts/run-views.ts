import { RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { ConsoleFixture } from "../support/console-fixture.ts";
import { writeLongRun } from "../support/write-long-run.ts";

/** The views of one run. */
export function describeRunViews(fixture: () => ConsoleFixture): void {
  test("renders what is in view of a long run, and keeps open what a person opened", async () => {
    const count = 150;
    const runId = await writeLongRun(fixture().deployment.nats, count, "olga");
    await using shown = await fixture().open(`/runs/${runId}`);
    const { page } = shown;
    const first = page.locator('[data-node="call-1"]');
    const last = page.locator(`[data-node="call-${count}"]`);
    await page.locator('[data-connection="ended"]').waitFor();
    await page.evaluate("scrollTo(0, 0)");
    await first.getByRole("button").click();
    await first.getByRole("heading", { name: "Arguments" }).waitFor();
    // Heights are measured as items come into view, so the end moves.
    await expect
      .poll(async () => {
        await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
        return await last.count();
      })
      .toBe(1);
    await first.waitFor({ state: "detached" });
    await page.evaluate("scrollTo(0, 0)");
    await first.getByRole("heading", { name: "Arguments" }).waitFor();
    expect(shown.problems).toEqual([]);
  });

  // Requirement: CHAT-6
  test("shows nested cards, closed below the root, in the same order live and after a reload", async () => {
    const runId = await fixture().started("Nest the work.");
    await using shown = await fixture().open(`/runs/${runId}/tree`);
    const { page } = shown;
    const nodes = page.locator("[data-node]");
    await page.locator('[data-connection="ended"]').waitFor();
    await page.getByRole("button", { name: /Outer subtask/ }).waitFor();
    const tree = () =>
      nodes.evaluateAll((all) => all.map((node) => node.getAttribute("data-node")));
    expect(
      await page.getByRole("button", { name: /Inner subtask/ }).getAttribute("aria-expanded"),
    ).toBe("false");
    const live = await tree();
    await page.reload();
    await page.getByRole("button", { name: /Inner subtask/ }).waitFor();
    expect(await tree()).toEqual(live);
    await page.getByRole("button", { name: /Inner subtask/ }).click();
    await page.getByRole("button", { name: /add_todo/ }).waitFor();
    const stored = await fixture().deployment.reeve.runs.getExecutionTree({ runId });
    expect(await tree()).toEqual(stored.tree?.nodes.map(({ id }) => id));
    expect(shown.problems).toEqual([]);
  });

  test("continues in the same tab after the runtime was killed", async () => {
    const runId = await fixture().started("Slow, please.");
    await using shown = await fixture().open(`/runs/${runId}`);
    const { page } = shown;
    await page.getByText("word3").waitFor();
    await fixture().deployment.kill("runtime");
    await fixture().deployment.start("runtime");
    await page.getByText("word60").waitFor();
    await page.locator('[data-connection="ended"]').waitFor();
    expect(await page.getByText(/word60/).count()).toBe(1);
    const { run } = await fixture().deployment.reeve.runs.getRun({ runId });
    expect(run?.status).toBe(RunStatus.COMPLETED);
    const messages = await page.locator(".message.agent").allTextContents();
    expect(messages.join("").trim()).toBe(run?.output);
    expect(shown.problems).toEqual([]);
  });

  test("shows hostile content as text", async () => {
    const runId = await fixture().finished("Hostile, please.", "helper", {
      "<img src=x onerror=window.pwned=1>": "<script>window.pwned = 1</script>",
    });
    await using shown = await fixture().open(`/runs/${runId}`);
    const { page } = shown;
    await page.getByText("The end of the hostile text.").first().waitFor();
    await page.locator('[data-connection="ended"]').waitFor();
    await page.goto(`${fixture().deployment.url}/runs?text=Hostile`);
    await page.getByText("<script>window.pwned = 1</script>").first().waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: /Hostile, please/ }).waitFor();
    for (const view of ["tree", "timeline", "events"]) {
      await page.goto(`${fixture().deployment.url}/runs/${runId}/${view}`);
      await page.locator('[data-connection="ended"]').waitFor();
    }
    await page.goto(`${fixture().deployment.url}/runs/${runId}`);
    await page.getByText("The end of the hostile text.").first().waitFor();
    expect(await page.evaluate("window.pwned")).toBeUndefined();
    const content = page.locator(".conversation");
    expect(await content.locator("script, img, iframe, style, form").count()).toBe(0);
    const links = await content
      .locator("a")
      .evaluateAll((all) =>
        all.map((link) => [link.getAttribute("href"), link.getAttribute("rel")]),
      );
    expect(links.length).toBeGreaterThan(0);
    for (const [href, rel] of links.filter(([href]) => href !== null)) {
      expect(href).toMatch(/^https:/);
      expect(rel).toContain("noopener");
    }
    // The browser reports each attempt that the policy stopped, and nothing else.
    const others = shown.problems.filter((each) => !each.includes("Content Security Policy"));
    expect(others).toEqual([]);
  });
}
