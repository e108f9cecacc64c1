import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

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
  await page.evaluate(axe.source);
  const results = await page.evaluate<Results>("axe.run()");
  const found = results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ""}`),
  );
  expect(found).toEqual([]);
}
