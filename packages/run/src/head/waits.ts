import { create } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import type { Approval } from "@reeve/contracts/approval";
import type { ClientCallChanged, RunEvent, RunWait } from "@reeve/contracts/run";
import { ClientCallState, RunWaitKind, RunWaitSchema } from "@reeve/contracts/run";

/** How many waits a summary has. */
const maxWaits = 20;

/**
 * Returns what a run waits for after one more event: decisions of people, and answers of clients. Returns the same list if nothing
 * changed. Never changed in place. The result of a call changes nothing, because rows of lists do not follow results: a call that got
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
  return added(
    waits,
    create(RunWaitSchema, { kind: RunWaitKind.DECISION, id, name: call?.name ?? "" }),
  );
}

function afterClientCall(
  waits: readonly RunWait[],
  { callId: id, name, state, deadline, answeredByPerson, clientId }: ClientCallChanged,
): readonly RunWait[] {
  switch (state) {
    case ClientCallState.OPEN: {
      const kind = RunWaitKind.CLIENT_CALL;
      const until = deadline === undefined ? {} : { until: deadline };
      return added(
        without(waits, id),
        create(RunWaitSchema, { kind, id, name, answeredByPerson, ...until }),
      );
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

function added(waits: readonly RunWait[], wait: RunWait): readonly RunWait[] {
  return waits.length >= maxWaits ? waits : [...waits, wait];
}

function without(waits: readonly RunWait[], id: string): readonly RunWait[] {
  return waits.some((wait) => wait.id === id) ? waits.filter((wait) => wait.id !== id) : waits;
}
