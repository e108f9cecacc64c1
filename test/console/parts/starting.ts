import { expect, test } from "vitest";
import { playedModel } from "../support/console-fixture.ts";
import type { ConsoleFixture } from "../support/console-fixture.ts";
import { expectAccessible } from "../support/expect-accessible.ts";

/** From nothing to a run, in the browser alone. */
export function describeStarting(fixture: () => ConsoleFixture): void {
  test("creates an agent with the form, starts it with a file, and shows what it changed", async () => {
    await using shown = await fixture().open("/start");
    const { page } = shown;
    await page.getByLabel("Input").waitFor();
    await page.goto(`${fixture().deployment.url}/agents?create=true`);
    await page.getByLabel("Id").fill("writer");
    await page.getByLabel("Name").fill("Writer");
    await page.getByLabel("Model").fill("no:such:model");
    await page.locator(".agent-form .bad").first().waitFor();
    const create = page.getByRole("button", { name: "Create the agent" });
    expect(await create.isDisabled()).toBe(true);
    await page.getByLabel("Model").fill(playedModel);
    await page.getByText("Valid", { exact: true }).waitFor();
    expect(await page.getByLabel("Spec").innerText()).toContain("name: Writer\n");
    await create.click();
    await page.getByLabel("Input").fill("Edit the file.");
    const buffer = Buffer.from("kept\nold line\n");
    const file = { name: "notes.txt", mimeType: "text/plain", buffer };
    await page.getByLabel("Files for the workspace").setInputFiles(file);
    await page.getByText("notes.txt").waitFor();
    await page.getByRole("button", { name: "Start the run" }).click();
    await page.locator('[data-connection="ended"]').waitFor();
    await page.getByRole("button", { name: "Budget left, model, and tools of this run" }).click();
    await page.getByText(/left of 60/).waitFor();
    await page.getByRole("link", { name: "Files" }).click();
    await page.getByRole("button", { name: "changes" }).click();
    const change = page.getByLabel("Change of notes.txt since the start");
    await change.waitFor();
    expect(await change.textContent()).toBe("  kept\n- old line\n+ new line\n");
    await expectAccessible(page);
    expect(shown.problems).toEqual([]);
  });

  test("goes to a screen, an agent, and an event with keys and links", async () => {
    const runId = await fixture().finished("Link to me.");
    await using shown = await fixture().open("/models");
    const { page } = shown;
    await page.getByRole("heading", { name: "Models" }).waitFor();
    await page.keyboard.press("Control+k");
    const goTo = page.getByRole("combobox", { name: "Go to" });
    await goTo.fill("Link to me");
    await page.getByRole("option", { name: new RegExp(runId) }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Link to me." }).waitFor();
    await page.goto(`${fixture().deployment.url}/runs/${runId}/events?at=1`);
    await page.getByRole("region", { name: "Event 1" }).waitFor();
    await page.keyboard.press("8");
    await page.getByRole("heading", { name: "Operate" }).waitFor();
    expect(shown.problems).toEqual([]);
  });
}
