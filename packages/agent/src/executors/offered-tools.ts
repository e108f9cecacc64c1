import type { ToolCatalog } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import { executesCode } from "../tools/isolation.ts";

/** Returns whether toolhosts offer tools that execute code, in a sandbox that isolates it. */
export function offersSandbox(catalogs: readonly ToolCatalog[]): boolean {
  return catalogs.some(
    ({ isolation, tools }) =>
      executesCode(isolation) &&
      tools.some(({ permissionClass }) => permissionClass === PermissionClass.EXECUTE),
  );
}

/** Returns whether toolhosts offer workspaces, in which a run finds its files. */
export function offersWorkspaces(catalogs: readonly ToolCatalog[]): boolean {
  return catalogs.some(
    ({ isolation, tools }) =>
      isolation !== "none" &&
      tools.some(({ name, source }) => source === "builtin" && name === "read_file"),
  );
}
