import { basename, extname } from "node:path";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import type { Tool } from "@reeve/calls/ports/tool";
import { dumpFile } from "@reeve/sandbox/files/workspace-files";
import { builtinDescriptor, stringOf } from "./builtin-descriptor.ts";
import { pathProperty } from "./file-result.ts";

const mediaTypes: Readonly<Record<string, string>> = {
  ".md": "text/markdown",
  ".txt": "text/plain",
  ".csv": "text/csv",
  ".html": "text/html",
  ".json": "application/json",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

/** Publishes a file of the workspace as an artifact, which outlives the run. The same call always makes the same artifact. */
export function publishReport(artifacts: ArtifactStore, maxBytes: number): Tool {
  return {
    descriptor: builtinDescriptor({
      name: "publish_report",
      description: "Publishes a file of the workspace as an artifact that people can download.",
      category: ToolCategory.GENERAL,
      permissionClass: PermissionClass.WORKSPACE_WRITE,
      properties: {
        path: pathProperty,
        title: { type: "string", description: "Title of the report." },
      },
      required: ["path"],
      idempotent: true,
    }),
    async call({ tenant, runId, startedBy, callId, args, sandbox }, signal) {
      const path = stringOf(args["path"]);
      const box = await sandbox();
      const draft = {
        name: basename(path),
        mediaType: mediaTypes[extname(path).toLowerCase()] ?? "application/octet-stream",
        runId,
        createdBy: startedBy,
        idempotencyKey: callId,
      };
      const content = dumpFile(box, path, maxBytes, signal);
      const artifact = await artifacts.put(tenant, draft, content, signal);
      const structured = {
        artifact_id: artifact.artifactId,
        name: artifact.name,
        size_bytes: artifact.sizeBytes,
        ...(args["title"] !== undefined && { title: args["title"] }),
      };
      return {
        content: JSON.stringify(structured),
        structured,
        isError: false,
        isolation: box.isolation,
      };
    },
  };
}
