import { toBinary } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema } from "@reeve/contracts/approval";

/** Returns how many bytes an approval has in the log. */
export function sizeOfApproval(approval: Approval): number {
  const known = sizes.get(approval);
  if (known !== undefined) return known;
  const size = toBinary(ApprovalSchema, approval).length;
  sizes.set(approval, size);
  return size;
}

/** An approval never changes: each version is a new one. */
const sizes = new WeakMap<Approval, number>();
