import { ErrorReason } from "@reeve/contracts/error";
import type { ToolCatalog } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { unsupportedCapability } from "../spec/unsupported-capability.ts";

/** Throws a Failure if the files of a run, together, are larger than any workspace of the deployment. */
export function assertFilesFit(bytes: number, catalogs: readonly ToolCatalog[]): void {
  const hosts = catalogs.filter(({ isolation }) => isolation !== "none");
  // A toolhost that does not announce the size of its workspaces may take any.
  const sizes = hosts.map(({ sandbox }) => Number(sandbox?.workspaceBytes ?? 0));
  if (sizes.length === 0 || sizes.some((size) => size === 0 || size >= bytes)) return;
  const description = `files have ${bytes} bytes in total, and a workspace here holds at most ${Math.max(...sizes)}; pass fewer, or raise REEVE_WORKSPACE_BYTES of the toolhosts`;
  throw new Failure("unsupported", ErrorReason.UNSUPPORTED_CAPABILITY, description, {
    violations: [{ field: "files", description, reason: unsupportedCapability }],
  });
}
