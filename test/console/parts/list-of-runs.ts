import { RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { ConsoleFixture } from "../support/console-fixture.ts";
import { expectAccessible } from "../support/expect-accessible.ts";
import { writeEndedRuns } from "../support/write-ended-runs.ts";

/** The list of runs: filters, saved views, and what is done to several runs at once. */
export function describeListOfRuns(fixture: () => ConsoleFixture): void {
  test("filters runs, counts them, and keeps the filters as a view", async () => {
    const wanted = await fixture().finished("Filter me.", "helper", { team: "blue" });
    await fixture().finished("Filter me too.", "helper", { team: "red" });
    await using shown = await fixture().open("/runs");
    const { page } = shown;
    const summary = page.getByLabel("Summary of the runs");
    await page.getByLabel("Label, such as team=blue").fill("team=blue");
    await summary.getByText("1 run", { exact: false }).waitFor();
    await page.getByRole("link", { name: "Filter me too." }).waitFor({ state: "detached" });
    await page.getByText(wanted).waitFor();
    await page.getByRole("button", { name: "completed 1" }).click();
    await summary.locator("canvas").waitFor();
    await expectAccessible(page);
    await page.getByLabel("Name of the view").fill("Blue ones");
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("link", { name: "Filter me too." }).waitFor();
    await page.reload();
    await page.getByRole("link", { name: "Blue ones" }).click();
    await page.getByRole("link", { name: "Filter me too." }).waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("label")).toBe("team=blue");
    await page.getByLabel("Label, such as team=blue").fill("no-such-label");
    await page.getByText("No run matches the filters").waitFor();
    const { url } = fixture().deployment;
    await page.goto(`${url}/runs?status=completed&cost=much&since=4&agent=[1]&other=1`);
    await page.getByRole("link", { name: "Filter me too." }).waitFor();
    const chip = page.getByRole("button", { name: /^completed \d/ });
    expect(await chip.getAttribute("aria-pressed")).toBe("true");
    expect(shown.problems).toEqual([]);
    await page.goto(`${url}/runz/run_1`);
    await page.getByText("There is no such screen").waitFor();
  });

  test("cancels the chosen runs and starts them again, with one result each", async () => {
    const waiting = await fixture().started("Pay all.", "payer", { batch: "1" });
    const ended = await fixture().finished("Repeat me.", "helper", { batch: "1" });
    await using shown = await fixture().open("/runs?label=batch");
    const { page } = shown;
    const { runs } = fixture().deployment.reeve;
    await page.getByLabel(`Choose run ${waiting}`).check();
    await page.getByLabel(`Choose run ${ended}`).check();
    const confirm = (name: string) =>
      page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
    await page.getByRole("button", { name: "Run again (1)" }).click();
    await confirm("Run again");
    await page.getByText("1 run started again").waitFor();
    await expect
      .poll(async () => (await runs.listRuns({ filter: { labels: { batch: "1" } } })).runs.length)
      .toBe(3);
    await page.getByLabel(`Choose run ${waiting}`).check();
    await page.getByRole("button", { name: "Cancel (1)" }).click();
    await confirm("Cancel");
    await page.getByText("1 run cancelled").waitFor();
    await expectAccessible(page);
    expect((await runs.getRun({ runId: waiting })).run?.status).toBe(RunStatus.CANCELLED);
    expect(shown.problems).toEqual([]);
  });

  test("shows the runs of every place to which a long list is scrolled", async () => {
    const { nats, reeve } = fixture().deployment;
    const count = 300;
    await writeEndedRuns(nats, count, "scroller");
    await expect
      .poll(async () => {
        const { statuses } = await reeve.runs.countRuns({ filter: { startedBy: "scroller" } });
        return statuses[0]?.count;
      }, polling)
      .toBe(count);
    await using shown = await fixture().open("/runs?user=scroller");
    const { page } = shown;
    await page.getByText(`Scroll ${count}`, { exact: true }).waitFor();
    const names = () => page.evaluate<readonly (number | null)[]>(namesInView);
    // More rows are read when the end comes into view.
    await expect
      .poll(async () => {
        await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
        return (await names()).at(-1);
      }, polling)
      .toBe(1);
    for (const part of [0.5, 0.25, 0.75, 0, 1]) {
      await page.evaluate(
        `scrollTo(0, ${part} * (document.documentElement.scrollHeight - innerHeight))`,
      );
      // No part of the list in view is empty, and its runs follow each other.
      await expect
        .poll(async () => {
          const inView = await names();
          const first = inView[0] ?? 0;
          const isWhole = inView.length > 5 && inView.every((name, at) => name === first - at);
          return isWhole && (part > 0 || first === count) && (part < 1 || inView.at(-1) === 1);
        }, polling)
        .toBe(true);
    }
    expect(shown.problems).toEqual([]);
  });
}

const polling = { timeout: 30_000 };

/** Returns the numbers of the runs in view, from the top; null where the list has no row. */
const namesInView = `(() => {
  const body = document.querySelector(".runs tbody").getBoundingClientRect();
  const rows = new Map();
  for (let y = Math.max(0, body.top) + 1; y < Math.min(innerHeight, body.bottom) - 1; y += 8) {
    const row = document.elementFromPoint(body.left + 200, y)?.closest("tr");
    rows.set(row, Number(row?.querySelector(".row-link")?.textContent.slice(7)) || null);
  }
  return [...rows.values()];
})()`;
