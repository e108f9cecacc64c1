import { create } from "@bufbuild/protobuf";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { AppendExternalPorts } from "../commands/append-external.ts";
import { appendExternal } from "../commands/append-external.ts";
import { approvalOf } from "../head/run-head.ts";
import { isTerminal } from "../head/run-status.ts";

/** Expires an approval by a fact in the log of its run. Does nothing if it is closed, or the run has ended. */
export async function expireApproval(
  ports: AppendExternalPorts,
  key: RunKey,
  approvalId: string,
  signal: AbortSignal,
): Promise<void> {
  await appendExternal(
    ports,
    key,
    (head) => {
      const approval = approvalOf(head, approvalId);
      const isOpen = approval?.state === ApprovalState.PENDING && !isTerminal(head.status);
      if (!isOpen) return [];
      const expired = create(ApprovalSchema, { ...approval, state: ApprovalState.TIMED_OUT });
      return [{ case: "approval", value: { approval: expired } }];
    },
    signal,
  );
}
