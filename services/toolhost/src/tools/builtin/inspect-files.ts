import { inspectFilesName } from "@reeve/agent/tools/named-paths";
import type { Tool } from "@reeve/calls/ports/tool";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import { inspectFiles as inspect } from "@reeve/sandbox/files/inspect-files";
import { builtinDescriptor } from "./builtin-descriptor.ts";

/** Inspects the files to which an approval is bound. The runtime calls it; it is never announced, so that no model can. */
export const inspectFiles: Tool = {
  descriptor: builtinDescriptor({
    name: inspectFilesName,
    description: "Returns digests and previews of files of the workspace.",
    category: ToolCategory.GENERAL,
    // No agent has a tool without a class.
    permissionClass: PermissionClass.UNSPECIFIED,
    properties: { paths: { type: "array", items: { type: "string" } } },
    required: ["paths"],
    idempotent: true,
  }),
  async call({ args, sandbox }, signal) {
    const paths = Array.isArray(args["paths"]) ? args["paths"] : [];
    const box = await sandbox();
    const named = paths.filter((path) => typeof path === "string");
    const boundContent = await inspect(box, named, signal);
    return { content: "", isError: false, boundContent, isolation: box.isolation };
  },
};
