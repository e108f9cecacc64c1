import { existsSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { chromium } from "playwright-core";

/** Where distributions install Chromium. */
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) =>
  existsSync(path),
);

/** Why these tests cannot run on this machine. Undefined: they can. */
export const missingBrowser: string | undefined =
  executablePath === undefined ? "needs chromium: apt-get install chromium" : undefined;

/** A page, and everything that the browser reported about it as wrong. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  readonly problems: readonly string[];
}

export function openBrowser(): Promise<Browser> {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  return chromium.launch({ args, ...(executablePath !== undefined && { executablePath }) });
}

/** Opens a tab of its own, without the storage of others. */
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
  await page.goto(url);
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
}
