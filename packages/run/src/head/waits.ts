import { create } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import type { Approval } from "@reeve/contracts/approval";
import type { ClientCallChanged, RunEvent, RunWait } from "@reeve/contracts/run";
import { ClientCallState, RunWaitKind, RunWaitSchema } from "@reeve/contracts/run";

/** How many waits clients see. */
const maxShown = 20;

/** Returns the waits that clients see: the oldest. */
export function shownWaits(waits: readonly RunWait[]): RunWait[] {
  return waits.slice(0, maxShown);
}

/**
 * Returns what a run waits for after one more event: decisions of people, and answers of clients. Returns the same list if nothing
 * changed. Never changed in place, and never cut: clients see the first of them. The result of a call changes nothing, because rows of lists do not follow results: a call that got
 * one without an answer of its client is left out by `runOf`, and stays in the row until its run has ended.
 */
export function runWaitsAfter(waits: readonly RunWait[], { event }: RunEvent): readonly RunWait[] {
  if (event.case === "approval") return afterApproval(waits, event.value.approval);
  return event.case === "clientCall" ? afterClientCall(waits, event.value) : waits;
}

function afterApproval(
  waits: readonly RunWait[],
  approval: Approval | undefined,
): readonly RunWait[] {
  if (approval === undefined) return waits;
  const { approvalId: id, state, call } = approval;
  if (state !== ApprovalState.PENDING) return without(waits, id);
  // Votes and comments are further versions of the same approval.
  if (waits.some((wait) => wait.id === id)) return waits;
  const wait = { kind: RunWaitKind.DECISION, id, name: call?.name ?? "" };
  return [...waits, create(RunWaitSchema, wait)];
}

function afterClientCall(
  waits: readonly RunWait[],
  { callId: id, name, state, deadline, answeredByPerson, clientId }: ClientCallChanged,
): readonly RunWait[] {
  switch (state) {
    case ClientCallState.OPEN: {
      const kind = RunWaitKind.CLIENT_CALL;
      const until = deadline === undefined ? {} : { until: deadline };
      const wait = { kind, id, name, answeredByPerson, ...until };
      return [...without(waits, id), create(RunWaitSchema, wait)];
    }
    case ClientCallState.TAKEN:
      return waits.map((wait) => (wait.id === id ? { ...wait, clientId } : wait));
    case ClientCallState.ANSWERED:
    case ClientCallState.EXPIRED:
      return without(waits, id);
    case ClientCallState.UNSPECIFIED:
      return waits;
  }
  // A newer version wrote another state.
  return waits;
}

function without(waits: readonly RunWait[], id: string): readonly RunWait[] {
  return waits.some((wait) => wait.id === id) ? waits.filter((wait) => wait.id !== id) : waits;
}
