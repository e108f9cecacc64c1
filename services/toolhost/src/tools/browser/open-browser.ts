import { join } from "node:path";
import type { Tool } from "@reeve/calls/ports/tool";
import { invalidConfig } from "@reeve/platform/process/json-config";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { sweepOwnedFolders } from "@reeve/sandbox/host/owned-folder";
import { workspaceRoot } from "@reeve/sandbox/host/workspace-root";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { SandboxDriver } from "@reeve/sandbox/port";
import type { ToolhostConfig } from "../../config.ts";
import { BrowserSessions } from "./browser-sessions.ts";
import { browserTools } from "./browser-tools.ts";
import { findChromium } from "./chromium-command.ts";
import { startBrowser } from "./browser-process.ts";

/** The tools of a browser. Disposing ends all browsers. */
export interface OpenBrowser extends AsyncDisposable {
  readonly tools: readonly Tool[];
}

interface BrowserParts {
  /** The sandboxes of this host, with their network. Undefined: there are none. */
  readonly driver: SandboxDriver | undefined;
  isRunOver(run: RunKey, signal: AbortSignal): Promise<boolean>;
  readonly log: Logger;
}

/**
 * Returns the tools of the browser; none if it is not configured. Throws a Failure if it is, and something that it needs is missing:
 * Chromium, its library, or sandboxes of bubblewrap with a limit for all of their memory.
 */
export async function openBrowser(
  config: ToolhostConfig,
  { driver, isRunOver, log }: BrowserParts,
  signal: AbortSignal,
): Promise<OpenBrowser> {
  const identity = sandboxIdentity(config.REEVE_SANDBOX_UID);
  // No tenant has a name with a dot.
  const folderOf = () => join(workspaceRoot(config.REEVE_DATA_DIR, identity), ".browser");
  // A toolhost that was killed has left the profiles of its browsers, which this one may not have.
  if (driver?.name === "bubblewrap") await sweepOwnedFolders(folderOf());
  if (config.REEVE_BROWSER === undefined) {
    return { tools: [], [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  if (driver?.name !== "bubblewrap") {
    throw invalidConfig("REEVE_BROWSER", "needs REEVE_SANDBOX=bubblewrap, and bubblewrap to work");
  }
  const report = await driver.probe(signal);
  if (!report.works || !report.bounds.memory) {
    const problem = "needs a limit for the memory of a whole sandbox";
    throw invalidConfig("REEVE_BROWSER", `${problem}: let the toolhost create control groups`);
  }
  const program = findChromium();
  if (program === undefined) {
    throw invalidConfig("REEVE_BROWSER", "needs Chromium: apt-get install chromium");
  }
  await loadLibrary();
  const folder = folderOf();
  const sessions = new BrowserSessions({
    max: config.REEVE_BROWSER_SESSIONS,
    isRunOver,
    start: (network, until) =>
      startBrowser({ driver, identity, folder, program, log }, network, until),
  });
  return {
    tools: browserTools(sessions),
    [Symbol.asyncDispose]: () => sessions[Symbol.asyncDispose](),
  };
}

/** Loading it takes a second, in which no call should have to wait. */
async function loadLibrary(): Promise<void> {
  try {
    await import("playwright-core");
  } catch {
    throw invalidConfig("REEVE_BROWSER", "needs the package playwright-core beside the program");
  }
}
