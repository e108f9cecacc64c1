import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { configuredPlugins } from "@reeve/plugin/host/configured-plugins";
import { readPluginConfig } from "@reeve/plugin/host/plugin-config";
import type { PluginRegistry } from "@reeve/plugin/host/plugin-registry";

/**
 * Opens the plugins of a file in the format of REEVE_PLUGINS, for the runs of this process. Dispose the result after the last run.
 * Throws a Failure with every problem of the file; a plugin that does not load is refused when an agent names it.
 */
export async function openPlugins(
  path: string,
  signal: AbortSignal,
  log: Logger = createLogger("local", "silent"),
): Promise<PluginRegistry> {
  return await configuredPlugins(await readPluginConfig(path, process.env), log, signal);
}
