import { basename } from "node:path";
import type { McpServerConfig } from "./mcp-config.ts";

/** Programs that download a server before they start it. */
const installers: ReadonlySet<string> = new Set([
  "bunx",
  "npm",
  "npx",
  "pipx",
  "pnpm",
  "uv",
  "uvx",
  "yarn",
]);

/** Returns why a server probably does not start, and what to do. Undefined: its configuration does not say. */
export function installerHint(config: McpServerConfig): string | undefined {
  if (!("command" in config) || !config.sandbox || config.network) return undefined;
  const program = basename(config.command);
  if (!installers.has(program)) return undefined;
  return `${program} downloads the server, and its sandbox has no network: install the server into a folder in advance, name its program in command and args, and the folder in read`;
}
