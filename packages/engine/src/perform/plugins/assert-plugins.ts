import { builtinPlugins } from "@reeve/agent/plugins/builtin-plugins";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { maxIdleClaims, maxIdleCrashes } from "../../domain/budget/limits.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import type { RunPorts } from "../../ports/run-ports.ts";

/** How many counted claims wait for a worker that has the plugins of a run: about five minutes, with those that are not counted. */
const maxClaimsWithoutPlugin = 5;

/**
 * Throws a Failure, after which the run is prepared later or by another worker, if this worker does not have a plugin of the run or of a
 * delegate, or the plugin is away. Not at the end of the patience with a run: its preparation then fails with the name of the plugin.
 */
export function assertPlugins(
  { head, idleClaims, idleCrashes }: RunState,
  { catalogs, plugins, worker }: Pick<RunPorts, "catalogs" | "plugins" | "worker">,
): void {
  const { spec, delegates = [] } = head.created ?? {};
  const specs = [spec, ...delegates.map((each) => each.spec)];
  const pluginIds = specs.flatMap((each) => each?.pluginIds ?? []);
  if (pluginIds.length === 0) return;
  const offered = catalogs().models.plugins.map(({ pluginDescriptor }) => pluginDescriptor?.id);
  const known = new Set([...builtinPlugins.map(({ id }) => id), ...offered]);
  const missing = pluginIds.find((id) => !known.has(id));
  if (missing !== undefined && idleClaims < maxClaimsWithoutPlugin) {
    throw unavailable(
      `worker ${worker} has no plugin "${missing}"; set REEVE_PLUGINS of all runtimes to the same file`,
    );
  }
  const away = pluginIds.find((id) => plugins?.isAway?.(id));
  if (away !== undefined && idleClaims < maxIdleClaims && idleCrashes < maxIdleCrashes) {
    throw unavailable(
      `plugin "${away}" does not answer worker ${worker}; the run is prepared when it does`,
    );
  }
}

function unavailable(message: string): Failure {
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
