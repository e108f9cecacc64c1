import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { RunPorts } from "../ports/run-ports.ts";

/**
 * Returns why no call of a tool may be bound to content: a host of its pool, which may take the call, would execute it without a look at
 * the content. Undefined: all hosts check it.
 */
export function unboundHost(
  { pool }: Pick<ToolDescriptor, "pool">,
  ports: Pick<RunPorts, "catalogs">,
): string | undefined {
  const older = ports.catalogs().tools.find((each) => each.pool === pool && !each.bindsContent);
  if (older === undefined) return undefined;
  const host = older.host === "" ? "a host" : `host ${older.host}`;
  return `${host} of the pool of toolhosts "${pool}" has a version that does not check the files that an approval is bound to; update toolhosts first`;
}
