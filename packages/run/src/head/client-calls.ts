import type { JsonObject } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ClientCallChanged, RunEvent } from "@reeve/contracts/run";
import { ClientCallState } from "@reeve/contracts/run";

/** The call of a tool that clients execute, as clients and gateways need it. */
export interface KnownClientCall {
  readonly callId: string;
  readonly name: string;
  /** Empty once the call has ended. */
  readonly arguments: JsonObject;
  /** Until when it can be answered, in milliseconds since the epoch. */
  readonly deadlineMs: number;
  readonly state: "open" | "taken" | "answered" | "closed";
  /** The client that took it. Empty: none did. */
  readonly clientId: string;
  /** Subject of the credential of that client. */
  readonly subject: string;
  /** Digest of its answer. */
  readonly answerDigest: Uint8Array;
}

export type ClientCalls = ReadonlyMap<string, KnownClientCall>;

/** One object, so that runs without such calls share it. */
export const noClientCalls: ClientCalls = new Map();

/** Returns the calls after one more event. */
export function clientCallsAfter(before: ClientCalls, { event }: RunEvent): ClientCalls {
  if (event.case === "clientCall") return changed(before, event.value);
  if (event.case !== "toolResult") return before;
  const call = before.get(event.value.result?.callId ?? "");
  if (call === undefined || hasEnded(call)) return before;
  return new Map(before).set(call.callId, ended(call, "closed"));
}

/** Whether the call needs no answer anymore. */
export function hasEnded({ state }: KnownClientCall): boolean {
  return state === "answered" || state === "closed";
}

function changed(before: ClientCalls, value: ClientCallChanged): ClientCalls {
  const { callId } = value;
  const call = before.get(callId);
  const after = call === undefined ? opened(value) : changedCall(call, value);
  return after === call || after === undefined ? before : new Map(before).set(callId, after);
}

function opened(value: ClientCallChanged): KnownClientCall | undefined {
  if (value.state !== ClientCallState.OPEN) return undefined;
  const { callId, name, arguments: args = {}, deadline } = value;
  return {
    callId,
    name,
    arguments: args,
    deadlineMs: deadline === undefined ? 0 : timestampMs(deadline),
    state: "open",
    clientId: "",
    subject: "",
    answerDigest: new Uint8Array(),
  };
}

function changedCall(call: KnownClientCall, value: ClientCallChanged): KnownClientCall {
  if (hasEnded(call)) return call;
  const { clientId, subject, answerDigest } = value;
  switch (value.state) {
    case ClientCallState.TAKEN:
      return call.state === "open" ? { ...call, state: "taken", clientId, subject } : call;
    case ClientCallState.ANSWERED:
      return { ...ended(call, "answered"), clientId, subject, answerDigest };
    case ClientCallState.EXPIRED:
      return ended(call, "closed");
    case ClientCallState.OPEN:
    case ClientCallState.UNSPECIFIED:
      return call;
  }
  return call;
}

/** Returns a call that has ended, without what nobody needs anymore: a head has the calls of the whole run. */
function ended(call: KnownClientCall, state: "answered" | "closed"): KnownClientCall {
  return { ...call, arguments: {}, state };
}
