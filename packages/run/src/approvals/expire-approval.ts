import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { AppendExternalPorts } from "../commands/append-external.ts";
import { appendExternal } from "../commands/append-external.ts";
import { approvalOf } from "../head/run-head.ts";
import { isTerminal } from "../head/run-status.ts";

/**
 * Expires an approval by a fact in the log of its run. Does nothing if it is closed, or the run has ended. Returns whether it has
 * expired, now or before. Throws a Failure of kind `unavailable` when the log of an open run is read without the approval.
 */
export async function expireApproval(
  ports: AppendExternalPorts,
  key: RunKey,
  approvalId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const after = await appendExternal(
    ports,
    key,
    (head) => {
      if (isTerminal(head.status)) return [];
      const approval = approvalOf(head, approvalId);
      if (approval === undefined) throw withoutApproval(approvalId);
      if (approval.state !== ApprovalState.PENDING) return [];
      const expired = create(ApprovalSchema, { ...approval, state: ApprovalState.TIMED_OUT });
      return [{ case: "approval", value: { approval: expired } }];
    },
    signal,
  );
  return approvalOf(after, approvalId)?.state === ApprovalState.TIMED_OUT;
}

/** A server that was cut off from the others answers from an older state. */
export function withoutApproval(approvalId: string): Failure {
  const message = `the log of the run was read without approval ${approvalId}; try again in a few seconds`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
