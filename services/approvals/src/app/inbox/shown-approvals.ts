import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";

/** A watch does not learn of approvals that are deleted, so it forgets the oldest. */
const defaultMaxApprovals = 10_000;

/** The pending approvals that a client has, each with its version. Knows a limited number. */
export class ShownApprovals {
  readonly #revisions = new Map<string, number | undefined>();
  readonly #maxApprovals: number;
  #hasForgotten = false;

  constructor(maxApprovals = defaultMaxApprovals) {
    this.#maxApprovals = maxApprovals;
  }

  has({ approvalId }: Approval): boolean {
    return this.#revisions.has(approvalId);
  }

  /** Whether the client may have approvals that are no longer known here. */
  get hasForgotten(): boolean {
    return this.#hasForgotten;
  }

  /** Notes a pending approval that the client may have of an earlier stream, in any version. */
  noteEarlier({ approvalId }: Approval): void {
    this.#note(approvalId, undefined);
  }

  /** Notes that the client gets an approval. Returns whether it differs from the one that the client has. */
  isNews({ approvalId, state, revision }: Approval): boolean {
    const isPending = state === ApprovalState.PENDING;
    if (isPending && this.#revisions.get(approvalId) === revision) return false;
    if (isPending) this.#note(approvalId, revision);
    else this.#revisions.delete(approvalId);
    return true;
  }

  #note(approvalId: string, revision: number | undefined): void {
    this.#revisions.set(approvalId, revision);
    if (this.#revisions.size <= this.#maxApprovals) return;
    const [oldest] = this.#revisions.keys();
    if (oldest !== undefined) this.#revisions.delete(oldest);
    this.#hasForgotten = true;
  }
}
