import { createHash } from "node:crypto";
import type { BoundFile } from "../../gen/reeve/tool/v1/tool_pb.ts";
import { canonicalJson } from "./canonical-json.ts";

/** Returns the digest of the content to which an approval is bound: see `BoundContent.digest`. */
export function contentDigest(
  files: readonly Pick<BoundFile, "path" | "state" | "sha256">[],
): string {
  const list = files.map(({ path, state, sha256 }) => [path, state, sha256]);
  return createHash("sha256").update(canonicalJson(list)).digest("hex");
}
