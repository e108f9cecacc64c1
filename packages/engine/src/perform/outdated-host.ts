import type { ToolCatalog, ToolDescriptor } from "@reeve/contracts/tool";
import type { RunPorts } from "../ports/run-ports.ts";

/** What a toolhost of an earlier version does with a request that needs a feature, by the flag with which hosts announce it. */
const withoutFeature = {
  bindsContent: "does not check the files that an approval is bound to",
  usesCredentials: "ignores the credentials for hosts that an agent names",
} as const satisfies Partial<Record<keyof ToolCatalog, string>>;

/**
 * Returns why no call of a tool may need a feature: a host of its pool, which may take the call, would execute it without the feature.
 * Undefined: all hosts have it.
 */
export function outdatedHost(
  { pool }: Pick<ToolDescriptor, "pool">,
  feature: keyof typeof withoutFeature,
  ports: Pick<RunPorts, "catalogs">,
): string | undefined {
  const older = ports.catalogs().tools.find((each) => each.pool === pool && !each[feature]);
  if (older === undefined) return undefined;
  const host = older.host === "" ? "a host" : `host ${older.host}`;
  return `${host} of the pool of toolhosts "${pool}" has a version that ${withoutFeature[feature]}; update toolhosts first`;
}
