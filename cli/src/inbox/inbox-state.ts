import type { JsonObject } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval, SimilarDecision } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { Prompt } from "./prompt.ts";

/** What a full-screen inbox shows. */
export interface InboxState {
  /** The approvals that wait, by id, and the selected one, even if it has been closed. */
  readonly approvals: ReadonlyMap<string, Approval>;
  /** Whether there are more than are shown. */
  readonly isPartial: boolean;
  readonly selectedId: string | undefined;
  /** How many lines of the details are above the screen. */
  readonly scroll: number;
  readonly text: string;
  readonly isMine: boolean;
  /** The arguments that the person made in the editor, by approval. */
  readonly edits: ReadonlyMap<string, JsonObject>;
  /** The approvals on which the person has voted here. They wait for others. */
  readonly voted: ReadonlySet<string>;
  /** How people decided similar calls before, of the approvals that were selected. */
  readonly similar: ReadonlyMap<string, readonly SimilarDecision[]>;
  readonly prompt: Prompt | undefined;
  /** What happened last. */
  readonly message: string;
  readonly isConnected: boolean;
}

/** How many approvals are shown at most. */
export const maxShown = 2_000;

export function emptyInbox(filter: {
  readonly text: string;
  readonly isMine: boolean;
}): InboxState {
  return {
    approvals: new Map(),
    isPartial: false,
    selectedId: undefined,
    scroll: 0,
    ...filter,
    edits: new Map(),
    voted: new Set(),
    similar: new Map(),
    prompt: undefined,
    message: "",
    isConnected: false,
  };
}

/** Returns the approvals in the order of the list, oldest first. */
export function listedApprovals({ approvals }: InboxState): readonly Approval[] {
  return [...approvals.values()].toSorted(
    (a, b) => requestedMs(a) - requestedMs(b) || (a.approvalId < b.approvalId ? -1 : 1),
  );
}

function requestedMs({ requestedAt }: Approval): number {
  return requestedAt ? timestampMs(requestedAt) : 0;
}

export function selectedApproval({ approvals, selectedId }: InboxState): Approval | undefined {
  return selectedId === undefined ? undefined : approvals.get(selectedId);
}

/** Returns the state after an approval was requested or has changed. The selection never moves by itself: a key would meet another call. */
export function withApproval(state: InboxState, approval: Approval): InboxState {
  const { approvalId } = approval;
  const isPending = approval.state === ApprovalState.PENDING;
  const isKnown = state.approvals.has(approvalId);
  if (isDone(state, approval) && approvalId !== state.selectedId) return without(state, approvalId);
  if (!isKnown && state.approvals.size >= maxShown) return { ...state, isPartial: true };
  const approvals = new Map(state.approvals).set(approvalId, approval);
  const isAsked = !isPending && state.prompt?.approvalId === approvalId;
  return {
    ...state,
    approvals,
    selectedId: state.selectedId ?? approvalId,
    ...(isAsked && { prompt: undefined, message: "somebody has decided this call" }),
  };
}

/** Returns the state with another approval selected: that many places after the selected one. */
export function withSelection(state: InboxState, steps: number): InboxState {
  const listed = listedApprovals(state);
  const at = listed.findIndex(({ approvalId }) => approvalId === state.selectedId);
  const next = listed[Math.min(Math.max(at + steps, 0), listed.length - 1)];
  const selected = selectedApproval(state);
  const isMoved = next?.approvalId !== state.selectedId;
  const moved = { ...state, selectedId: next?.approvalId, scroll: 0, message: "" };
  const isLeft = isMoved && selected !== undefined && isDone(state, selected);
  return isLeft ? without(moved, selected.approvalId) : moved;
}

/** Whether an approval is no more what the list is about: it is closed, or it waits for others after the own vote. */
function isDone({ isMine, voted }: InboxState, { state, approvalId }: Approval): boolean {
  return state !== ApprovalState.PENDING || (isMine && voted.has(approvalId));
}

/** Returns the state before the approvals are read again: somebody may have decided them since. The selected one stays in view. */
export function withSelectedOnly(state: InboxState): InboxState {
  const selected = selectedApproval(state);
  return {
    ...state,
    isPartial: false,
    approvals: new Map(selected && [[selected.approvalId, selected]]),
  };
}

function without(state: InboxState, approvalId: string): InboxState {
  if (!state.approvals.has(approvalId)) return state;
  const approvals = new Map(state.approvals);
  const edits = new Map(state.edits);
  const similar = new Map(state.similar);
  for (const known of [approvals, edits, similar]) known.delete(approvalId);
  return { ...state, approvals, edits, similar };
}
