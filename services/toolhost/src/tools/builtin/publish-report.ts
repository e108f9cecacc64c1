import { createHash } from "node:crypto";
import { basename, extname } from "node:path";
import { ErrorReason } from "@reeve/contracts/error";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import type { Tool } from "@reeve/calls/ports/tool";
import { dumpFile } from "@reeve/sandbox/files/workspace-files";
import { Failure } from "@reeve/platform/failure";
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
      pathArguments: ["path"],
    }),
    async call({ tenant, runId, startedBy, callId, args, sandbox, boundContent }, signal) {
      const path = stringOf(args["path"]);
      const box = await sandbox();
      const draft = {
        name: basename(path),
        mediaType: mediaTypes[extname(path).toLowerCase()] ?? "application/octet-stream",
        runId,
        createdBy: startedBy,
        idempotencyKey: callId,
      };
      const dumped = dumpFile(box, path, maxBytes, signal);
      const bound = boundContent?.files.find((file) => file.path === path);
      const content = bound === undefined ? dumped : onlyWithDigest(dumped, bound.sha256, path);
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

/** Yields the bytes of a file, and throws a Failure after the last one if they do not have the digest: nothing is stored then. */
async function* onlyWithDigest(
  bytes: AsyncIterable<Uint8Array>,
  sha256: string,
  path: string,
): AsyncIterable<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest("hex") === sha256) return;
  const message = `${path} is not the file that was approved; nothing was published`;
  throw new Failure("precondition", ErrorReason.APPROVAL_MISMATCH, message);
}
