import { createHash } from "node:crypto";
import type { BoundContent, ToolCall } from "../../gen/reeve/tool/v1/tool_pb.ts";
import type { RunCreated } from "../../gen/reeve/run/v1/run_event_pb.ts";
import { canonicalJson } from "./canonical-json.ts";

/** Returns the digest of a call, to which an approval is bound: see `Approval.call_digest`. */
export function callDigest(
  { name, arguments: args }: Pick<ToolCall, "name" | "arguments">,
  agent: Pick<RunCreated, "agentId" | "agentRevision"> | undefined,
  content?: Pick<BoundContent, "digest">,
): string {
  const { agentId = "", agentRevision = 0 } = agent ?? {};
  const parts = [agentId, String(agentRevision), name, canonicalJson(args ?? null)];
  if (content !== undefined) parts.push(content.digest);
  return createHash("sha256").update(parts.join("\0")).digest("hex");
}
