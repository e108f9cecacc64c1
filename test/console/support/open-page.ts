import type { Browser, Page, Request } from "playwright-core";
import { onTestFailed } from "vitest";
import { PageReport } from "./page-report.ts";

/** A page, and everything that the browser reported about it as wrong. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  readonly problems: readonly string[];
}

/** Why the browser fails requests in progress when a network of the machine changes, as when another test starts a container. */
const networkChanged = "net::ERR_NETWORK_CHANGED";
const maxAttempts = 5;

/** Opens a tab of its own, without the storage of others. If the test fails, its message says what the page showed. */
export async function openPage(
  browser: Browser,
  url: string,
  colorScheme: "light" | "dark" = "light",
): Promise<WatchedPage> {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width: 1280, height: 860 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  // A loaded machine needs longer than the default.
  page.setDefaultTimeout(60_000);
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("console", (line) => {
    // A lost connection is a part of some tests.
    if (line.type() === "error" && !line.text().includes("net::ERR")) problems.push(line.text());
  });
  const report = new PageReport(page);
  onTestFailed(async ({ task }) => {
    // A test that runs out of time has not closed its page.
    if (!page.isClosed()) await report.look();
    for (const error of task.result?.errors ?? []) error.message += `\n\n${report.text}`;
  });
  await load(page, url);
  return {
    page,
    problems,
    [Symbol.asyncDispose]: async () => {
      await report.look();
      await context.close();
    },
  };
}

/** Loads an address, and again if a network changed meanwhile: without one of its files, the page stays empty. */
async function load(page: Page, url: string): Promise<void> {
  for (let attempt = 1; attempt < maxAttempts; attempt++) {
    if (await isLoaded(page, url)) return;
    // From the same page, an address with another fragment would not be loaded.
    await page.goto("about:blank");
  }
  await page.goto(url);
}

async function isLoaded(page: Page, url: string): Promise<boolean> {
  let isWhole = true;
  const onFailure = (request: Request) => {
    if (request.failure()?.errorText === networkChanged) isWhole = false;
  };
  page.on("requestfailed", onFailure);
  try {
    await page.goto(url);
    return isWhole;
  } catch (error) {
    if (error instanceof Error && error.message.includes(networkChanged)) return false;
    throw error;
  } finally {
    page.off("requestfailed", onFailure);
  }
}
