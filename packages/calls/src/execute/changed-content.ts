import type { BoundContent } from "@reeve/contracts/tool";
import { inspectFiles } from "@reeve/sandbox/files/inspect-files";
import type { Sandbox } from "@reeve/sandbox/port";
import type { CallResult } from "../ports/tool.ts";

/**
 * Returns the result of a call that must not be executed, because its files do not have the content to which its approval is bound.
 * Undefined: they have it. The caller keeps everything else from writing to the workspace.
 */
export async function changedContent(
  sandbox: Sandbox,
  { digest, files }: BoundContent,
  signal: AbortSignal,
): Promise<CallResult | undefined> {
  const paths = files.map(({ path }) => path);
  const boundContent = await inspectFiles(sandbox, paths, signal);
  if (boundContent.digest === digest) return undefined;
  const content = "the files that this call names have changed since it was approved";
  return { content, isError: true, boundContent, contentChanged: true, executionTimeMs: 0 };
}
