import { Buffer } from "node:buffer";
import { png } from "@reeve/jetstream/test/support/files/png";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { ConsoleFixture } from "../support/console-fixture.ts";
import { expectAccessible } from "../support/expect-accessible.ts";
import { expectLayout } from "../support/expect-layout.ts";

/** The other screens, and every screen with axe in both themes. */
export function describeScreens(fixture: () => ConsoleFixture): void {
  test("holds a conversation on a thread", async () => {
    await using shown = await fixture().open("/chat");
    const { page } = shown;
    await page.getByLabel("Agent").selectOption("helper");
    await page.getByLabel("Message").fill("Hello there");
    await page.keyboard.press("Enter");
    await page.getByText("You said: Hello there").waitFor();
    await page.getByRole("link", { name: "Show the run" }).waitFor();
    const photo = { name: "photo.png", mimeType: "image/png", buffer: Buffer.from(png(40, 30)) };
    await page.getByLabel("Pictures and PDF").setInputFiles(photo);
    await page.getByLabel("Message").fill("And a photo");
    await page.keyboard.press("Enter");
    await page.getByRole("img", { name: "photo.png" }).waitFor();
    await page.getByRole("link", { name: "Show the run" }).nth(1).waitFor();
    await expectAccessible(page);
    expect(shown.problems).toEqual([]);
  });

  test("lets the agent use the page when a person permits it", async () => {
    await using shown = await fixture().open("/chat");
    const { page } = shown;
    await page.getByLabel("Agent").selectOption("helper");
    await page.getByLabel("Tools of this page").check();
    await page.getByLabel("Message").fill("Darken the page.");
    await page.keyboard.press("Enter");
    await page.getByText("The page says: The user sees the page in the theme dark.").waitFor();
    await page.getByRole("button", { name: "Theme: dark" }).waitFor();
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    await page.locator(".card-name").getByText("set_theme").waitFor();
    await expectAccessible(page);
    expect(shown.problems).toEqual([]);
  });

  // Requirement: CFG-9
  test("marks every violation of a spec, and saves only a valid one", async () => {
    await using shown = await fixture().open("/agents/helper");
    const { page } = shown;
    const spec = page.getByLabel("Spec");
    await spec.waitFor();
    const text = `${await spec.innerText()}\n`.replace(/\n+$/, "\n");
    // The names of the tools are known when the form suggests them.
    await page
      .locator('datalist option[value="write_file"]')
      .first()
      .waitFor({ state: "attached" });
    // What fits is offered while a person writes, and chosen.
    await write(page, `${text}hitl_too`);
    await page.keyboard.type("l");
    await page.getByRole("option", { name: /^hitl_tools/ }).click();
    await page.keyboard.type("write_f");
    await page.getByRole("option", { name: /^write_file/ }).click();
    await page.getByText("Valid", { exact: true }).waitFor();
    expect(await spec.innerText()).toContain("hitl_tools:\n  - write_file");
    await write(page, `${text}max_parallel_subagents: 9\nhitl_tools:\n  - none_such\n  - ""\n`);
    await page.getByText("Not valid").waitFor();
    await page.getByLabel("Violations").getByText("hitl_tools").first().waitFor();
    await page.getByLabel("Violations").getByText("max_parallel_subagents").waitFor();
    const save = page.getByRole("button", { name: /^Save as revision/ });
    expect(await save.isDisabled()).toBe(true);
    await fixture().picture(shown, "agent");
    await write(page, text);
    // Keys that lead to other screens and open the help, unless a person writes.
    await page.keyboard.type("max_rounds: 5?");
    expect(await spec.innerText()).toContain("max_rounds: 5?");
    await write(page, `${text}instructions: Be brief.\n`);
    await page.getByText("Valid", { exact: true }).waitFor();
    await save.click();
    await page.getByText("Revision 2").waitFor();
    await page.getByRole("button", { name: "Revisions" }).click();
    const changes = page.getByRole("region", { name: "Changes of revision 2" });
    expect(await changes.textContent()).toContain("+ instructions: Be brief.");
    await page.getByRole("button", { name: /^Revision 1\b/ }).click();
    await page.getByRole("button", { name: "Roll back to it" }).click();
    await page.getByRole("button", { name: "Save it as revision 3" }).click();
    await page.getByText("Revision 3,").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "What it may use" }).click();
    await page.getByText("add_todo").first().waitFor();
    await expectAccessible(page);
    expect(shown.problems).toEqual([]);
  });

  test("runs a draft that is not saved, and leaves the agent as it is", async () => {
    await using shown = await fixture().open("/agents/waiter");
    const { page } = shown;
    await page.getByLabel("Instructions").fill("Answer in verse.");
    await page.getByText("Valid", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Try the draft" }).click();
    await page.getByLabel("Input of the draft").fill("Hello draft");
    await page.keyboard.press("Enter");
    await page.getByText("You said: Hello draft").waitFor();
    await page.getByRole("link", { name: "Show the run" }).waitFor();
    await expectAccessible(page);
    const { agents, runs } = fixture().deployment.reeve;
    const stored = await agents.getAgent({ agentId: "waiter" });
    expect(stored.agent?.revision).toBe(1);
    const drafts = await runs.listRuns({ filter: { labels: { draft: "true" } } });
    const agentId = drafts.runs[0]?.agentId ?? "";
    expect(agentId).toMatch(/^waiter-draft-[0-9a-f]{12}$/);
    const draft = await agents.getAgent({ agentId });
    expect(draft.agent?.spec?.instructions).toBe("Answer in verse.");
    expect(shown.problems).toEqual([]);
  });

  describe.each(["light", "dark"] as const)("in the %s theme", (theme) => {
    test("has no accessibility violation on any screen, each of which fits into a small and a large window", async () => {
      const runId = await fixture().finished("Nest the work.");
      await using shown = await fixture().open("/runs", theme);
      const { page } = shown;
      await page.getByRole("link", { name: "Nest the work." }).first().waitFor();
      await expectAccessible(page);
      if (theme === "light") await fixture().picture(shown, "runs");
      await expectLayout(page);
      await page.setViewportSize({ width: 400, height: 860 });
      const row = page.getByRole("row").filter({ hasText: runId });
      await row.getByRole("link", { name: "Nest the work." }).waitFor();
      await row.getByText("helper", { exact: true }).first().waitFor();
      const views = [
        [`/runs/${runId}`, ".message.agent", "conversation"],
        [`/runs/${runId}/timeline`, ".timeline-row", "timeline"],
        [`/runs/${runId}/tree`, "[data-node]", undefined],
        [`/runs/${runId}/events`, ".event", undefined],
        [`/runs/${runId}/files`, ".empty", undefined],
        ["/agents", "table", undefined],
        ["/models", "table", undefined],
        ["/audit", "table", undefined],
        ["/inbox", ".empty", undefined],
        ["/operate", "[aria-label=Workers]", "operate"],
        ["/runs?by=cost", ".run-summary", undefined],
        ["/start", ".start-form", undefined],
        ["/agents?create=true", ".agent-form", undefined],
      ] as const;
      for (const [path, selector, name] of views) {
        await page.goto(`${fixture().deployment.url}${path}`);
        await page.locator(selector).first().waitFor();
        await expectAccessible(page);
        await expectLayout(page);
        if (name !== undefined && theme === "dark") await fixture().picture(shown, name);
      }
      // With 404 the API says that a run has no workspace.
      expect(shown.problems.filter((each) => !each.includes("404"))).toEqual([]);
    });
  });
}

/** Replaces the text of the editor with keys: a text that the browser itself replaces gets styles, which the policy refuses aloud. */
async function write(page: Page, text: string): Promise<void> {
  await page.getByLabel("Spec").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}
