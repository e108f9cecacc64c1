import { create } from "@bufbuild/protobuf";
import { contentDigest } from "@reeve/contracts/digest/content-digest";
import { ErrorReason } from "@reeve/contracts/error";
import type { BoundContent } from "@reeve/contracts/tool";
import { BoundContentSchema } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import type { Sandbox } from "../port.ts";
import { defaultLimits } from "../port.ts";
import { fileCommand, runFileProgram } from "./run-file-program.ts";

/** How long the digests of all files may take. */
const inspectTimeoutMs = 300_000;
/** How much of the start of a file is shown at most. */
const maxPreviewBytes = 2_000;
/** How much of all files is shown: an approval is stored again with each vote, and beside the one that it supersedes. */
const maxAllPreviewBytes = 32_000;

const inspected = z.array(
  z.object({
    path: z.string(),
    state: z.enum(["file", "absent", "folder", "unreadable"]),
    size: z.number().int().nonnegative(),
    sha256: z.string(),
    preview: z.string(),
  }),
);

/** Returns the content of files of the workspace, with digests and the start of each. Throws a Failure if it cannot be read. */
export async function inspectFiles(
  sandbox: Sandbox,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<BoundContent> {
  const share = Math.floor(maxAllPreviewBytes / Math.max(paths.length, 1));
  const request = { operation: "inspect", preview: Math.min(maxPreviewBytes, share) };
  const stdin = Buffer.from(JSON.stringify(paths));
  const limits = { ...defaultLimits, timeoutMs: inspectTimeoutMs };
  const command = { ...fileCommand("workspace_files", request), readOnly: true, stdin, limits };
  const outcome = await runFileProgram(sandbox, command, signal);
  if (outcome.kind === "refused") throw unreadable(outcome.reason);
  const parsed = inspected.safeParse(JSON.parse(outcome.text));
  if (!parsed.success) throw unreadable("the program in the sandbox returned something else");
  const files = parsed.data.map(({ size, ...file }) => ({ ...file, sizeBytes: BigInt(size) }));
  return create(BoundContentSchema, { digest: contentDigest(files), files });
}

function unreadable(why: string): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, `cannot inspect the files: ${why}`);
}
