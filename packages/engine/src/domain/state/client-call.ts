import type { JsonObject } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ClientCallChanged } from "@reeve/contracts/run";
import { ClientCallState } from "@reeve/contracts/run";

/** The call of a tool that clients execute, since it was opened. Never changed in place. */
export interface ClientCall {
  /** Until when it can be answered, in milliseconds since the epoch. */
  readonly deadlineMs: number;
  readonly isAnsweredByPerson: boolean;
  /** Id of the client that took it. Empty: no client did. */
  readonly clientId: string;
  /** How it ended. Undefined: it waits for its answer. */
  readonly outcome: ClientCallOutcome | undefined;
}

type ClientCallOutcome =
  | { readonly kind: "expired" }
  | {
      readonly kind: "answered";
      readonly content: string;
      readonly isError: boolean;
      readonly structured: JsonObject | undefined;
    };

/** Returns the call after a change. The first outcome stays, whatever the log says later. */
export function afterChange(
  before: ClientCall | undefined,
  changed: ClientCallChanged,
): ClientCall | undefined {
  if (changed.state === ClientCallState.OPEN) return before ?? opened(changed);
  if (before === undefined || before.outcome !== undefined) return before;
  switch (changed.state) {
    case ClientCallState.TAKEN:
      return before.clientId === "" ? { ...before, clientId: changed.clientId } : before;
    case ClientCallState.EXPIRED:
      return { ...before, outcome: { kind: "expired" } };
    case ClientCallState.ANSWERED: {
      const { content, isError, structured } = changed;
      return { ...before, outcome: { kind: "answered", content, isError, structured } };
    }
    case ClientCallState.UNSPECIFIED:
      return before;
  }
  return before;
}

function opened({ deadline, answeredByPerson }: ClientCallChanged): ClientCall {
  return {
    deadlineMs: deadline === undefined ? 0 : timestampMs(deadline),
    isAnsweredByPerson: answeredByPerson,
    clientId: "",
    outcome: undefined,
  };
}
