import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { ReceiptResult } from "@reeve/contracts/receipt";
import { ReceiptResultSchema } from "@reeve/contracts/receipt";
import type { CallHistory } from "./call-history.ts";
import { canonicalSha256 } from "./canonical-sha256.ts";

/** Returns what a receipt says about the result of a call: digests in place of its content. */
export function receiptResult({ event, value }: NonNullable<CallHistory["result"]>): ReceiptResult {
  const { content = "", structured, metadata, isError = false } = value.result ?? {};
  const { startedAt, completedAt, permission } = metadata ?? {};
  return create(ReceiptResultSchema, {
    sequence: event.sequence,
    isError,
    contentSha256: createHash("sha256").update(content).digest("hex"),
    contentBytes: BigInt(Buffer.byteLength(content)),
    structuredSha256: structured === undefined ? "" : canonicalSha256(structured),
    ...(event.time && { recordedAt: event.time }),
    ...(metadata && {
      status: metadata.status,
      offloadedArtifactId: metadata.offloadedArtifactId,
      offloadedArtifactSha256: metadata.offloadedArtifactSha256,
      boundContentDigest: metadata.content?.digest ?? "",
      workspaceRevision: metadata.workspaceRevision,
      isolation: metadata.isolation,
      endReason: metadata.endReason,
      approvalStatus: metadata.approvalStatus,
      approvalId: metadata.approvalId,
    }),
    ...(startedAt && { startedAt }),
    ...(completedAt && { completedAt }),
    ...(permission && { permission }),
  });
}
