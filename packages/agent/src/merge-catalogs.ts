import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ToolCatalog } from "@reeve/contracts/tool";

/**
 * What the hosts of each pool offer together. Of a tool that several hosts of one pool have, one says what it is: one that
 * isolates before one that does not, the latest word before an earlier one. Nothing is merged over pools: a name that two of
 * them have is a conflict.
 */
export function mergeCatalogs(catalogs: readonly ToolCatalog[]): readonly ToolCatalog[] {
  const seen = new Map<string, Set<string>>();
  return catalogs.toSorted(byWord).map((catalog) => {
    const known = seen.get(catalog.pool) ?? new Set();
    seen.set(catalog.pool, known);
    const tools = catalog.tools.filter(({ name }) => !known.has(name));
    for (const { name } of tools) known.add(name);
    return { ...catalog, tools };
  });
}

/** Whose word comes first. */
function byWord(a: ToolCatalog, b: ToolCatalog): number {
  const isolating = Number(isIsolating(b)) - Number(isIsolating(a));
  return isolating || announcedMs(b) - announcedMs(a) || (a.host < b.host ? -1 : 1);
}

function isIsolating({ isolation }: ToolCatalog): boolean {
  return isolation !== "" && isolation !== "none";
}

function announcedMs({ announcedAt }: ToolCatalog): number {
  return announcedAt === undefined ? 0 : timestampMs(announcedAt);
}
