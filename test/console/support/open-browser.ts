import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";
import { chromium } from "playwright-core";

/** Where distributions install Chromium. */
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) =>
  existsSync(path),
);

/** Why these tests cannot run on this machine. Undefined: they can. */
export const missingBrowser: string | undefined =
  executablePath === undefined ? "needs chromium: apt-get install chromium" : undefined;

export function openBrowser(): Promise<Browser> {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  return chromium.launch({ args, ...(executablePath !== undefined && { executablePath }) });
}
