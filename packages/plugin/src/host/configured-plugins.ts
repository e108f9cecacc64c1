import type { Logger } from "@reeve/platform/telemetry/logger";
import type { GrpcPlugin } from "./grpc-plugin.ts";
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
  const plugins: RegisteredPlugin[] = [];
  for (const config of configs) {
    const { id, ignoresFailures } = config;
    const supplier =
      config.kind === "package" ? new PackagePlugin(config.module) : await grpcPlugin(id, config);
    plugins.push({ id, ignoresFailures, supplier });
  }
  const registry = opening.use(new PluginRegistry(plugins, log));
  await registry.refresh(signal);
  opening.move();
  return registry;
}

/** A process without plugins of servers does not load the client for them. */
async function grpcPlugin(...given: ConstructorParameters<typeof GrpcPlugin>): Promise<GrpcPlugin> {
  const { GrpcPlugin } = await import("./grpc-plugin.ts");
  return new GrpcPlugin(...given);
}
