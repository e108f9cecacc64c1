import { join } from "node:path";
import type { Tool } from "@reeve/calls/ports/tool";
import { invalidConfig } from "@reeve/platform/process/json-config";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { workspaceRoot } from "@reeve/sandbox/host/workspace-root";
import type { ToolhostConfig } from "../../config.ts";
import type { Sandboxes } from "../../workspaces/sandbox/open-sandboxes.ts";
import { BrowserSessions } from "./browser-sessions.ts";
import { browserTools } from "./browser-tools.ts";
import { findChromium } from "./chromium-command.ts";
import { startBrowser } from "./browser-process.ts";

/** The tools of a browser. Disposing ends all browsers. */
export interface OpenBrowser extends AsyncDisposable {
  readonly tools: readonly Tool[];
}

/**
 * Returns the tools of the browser; none if it is not configured. Throws a Failure if it is, and something that it needs is missing:
 * Chromium, its library, or sandboxes of bubblewrap with a limit for all of their memory.
 */
export function openBrowser(
  config: ToolhostConfig,
  { sandboxes, log }: { readonly sandboxes: Sandboxes; readonly log: Logger },
): OpenBrowser {
  if (config.REEVE_BROWSER === undefined) {
    return { tools: [], [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const { driver } = sandboxes;
  if (driver?.name !== "bubblewrap") {
    throw invalidConfig("REEVE_BROWSER", "needs REEVE_SANDBOX=bubblewrap, and bubblewrap to work");
  }
  const program = findChromium();
  if (program === undefined) {
    throw invalidConfig("REEVE_BROWSER", "needs Chromium: apt-get install chromium");
  }
  assertLibrary();
  const identity = sandboxIdentity(config.REEVE_SANDBOX_UID);
  // No tenant has a name with a dot.
  const folder = join(workspaceRoot(config.REEVE_DATA_DIR, identity), ".browser");
  const sessions = new BrowserSessions({
    max: config.REEVE_BROWSER_SESSIONS,
    start: (network, signal) =>
      startBrowser({ driver, identity, folder, program, log }, network, signal),
  });
  return {
    tools: browserTools(sessions),
    [Symbol.asyncDispose]: () => sessions[Symbol.asyncDispose](),
  };
}

function assertLibrary(): void {
  try {
    import.meta.resolve("playwright-core");
  } catch {
    throw invalidConfig("REEVE_BROWSER", "needs the package playwright-core beside the program");
  }
}
