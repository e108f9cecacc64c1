import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What this test reads of a result of axe. */
interface Results {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Expects that axe finds no violation on the screen that is shown. */
export async function expectAccessible(page: Page): Promise<void> {
  // Evaluated by the debugger of the browser, so that the policy of the page does not refuse it.
  await page.evaluate(axe);
  const results = (await page.evaluate("axe.run()")) as Results;
  const found = results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ""}`),
  );
  expect(found).toEqual([]);
}
