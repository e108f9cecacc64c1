import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { isMine } from "../approval/standing.ts";

/** Returns what a person decides next: the first one after the decided one that waits for them, or else before it. */
export function nextApproval(listed: readonly Approval[], decidedId: string): Approval | undefined {
  const at = listed.findIndex(({ approvalId }) => approvalId === decidedId);
  const others = [...listed.slice(at + 1), ...listed.slice(0, Math.max(0, at))];
  return others.find(isMine);
}

/** Where the approval that an address names may come from. */
export interface KnownApprovals {
  /** Those that wait, as they were last read. */
  readonly listed: readonly Approval[];
  /** The named one, read by itself. It may be that of an earlier address. */
  readonly read: Approval | undefined;
}

/**
 * Returns the approval that an address names, and never another one: a click that is meant for it would decide the other. Undefined: it is
 * not known. Of two versions the later one is shown, and one that was closed stays closed, whatever an older list says.
 */
export function shownApproval(
  approvalId: string,
  { listed, read }: KnownApprovals,
): { readonly approval: Approval; readonly isWaiting: boolean } | undefined {
  const own = read?.approvalId === approvalId ? read : undefined;
  const isClosed = own !== undefined && own.state !== ApprovalState.PENDING;
  const inList = listed.find((each) => each.approvalId === approvalId);
  const isOwnLater = own !== undefined && own.revision > (inList?.revision ?? -1);
  const approval = isClosed || isOwnLater ? own : (inList ?? own);
  return approval && { approval, isWaiting: approval.state === ApprovalState.PENDING };
}

/**
 * Returns the approval that an address without an id leads to, once the list is that of the filters: the first one that waits for this
 * person, or else the first one.
 */
export function firstApproval(
  listed: readonly Approval[],
  { isOutdated }: { readonly isOutdated: boolean },
): Approval | undefined {
  return isOutdated ? undefined : (listed.find(isMine) ?? listed[0]);
}
