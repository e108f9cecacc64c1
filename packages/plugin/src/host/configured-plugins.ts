import type { Logger } from "@reeve/platform/telemetry/logger";
import { GrpcPlugin } from "./grpc-plugin.ts";
import { PackagePlugin } from "./package-plugin.ts";
import type { PluginConfig } from "./plugin-config.ts";
import type { RegisteredPlugin } from "./plugin-registry.ts";
import { PluginRegistry } from "./plugin-registry.ts";

/** Opens the configured plugins, and asks each what it offers. A plugin that does not answer stops nothing. */
export async function configuredPlugins(
  configs: readonly PluginConfig[],
  log: Logger,
  signal: AbortSignal,
): Promise<PluginRegistry> {
  await using opening = new AsyncDisposableStack();
  const plugins = configs.map((config): RegisteredPlugin => {
    const { id, ignoresFailures } = config;
    const supplier =
      config.kind === "package" ? new PackagePlugin(config.module) : new GrpcPlugin(id, config);
    return { id, ignoresFailures, supplier };
  });
  const registry = opening.use(new PluginRegistry(plugins, log));
  await registry.refresh(signal);
  opening.move();
  return registry;
}
