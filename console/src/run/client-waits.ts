import type { ClientCallChanged, RunEvent } from "@reeve/contracts/run";
import { ClientCallState } from "@reeve/contracts/run";
import type { NamedTone } from "../format/names.ts";
import { formatTimeOfDay, msOf } from "../format/time.ts";
import { changeCall } from "./frames.ts";
import type { ClientWait, RunModel } from "./run-model.ts";

/** Keeps which calls wait for the answer of a client. */
export function foldClientCall(run: RunModel, value: ClientCallChanged): void {
  const { callId, clientId } = value;
  const known = run.clientWaits.get(callId);
  const { name, deadline, answeredByPerson } = value;
  switch (value.state) {
    case ClientCallState.OPEN:
      run.clientWaits.set(callId, {
        callId,
        name,
        answeredByPerson,
        clientId: "",
        untilMs: msOf(deadline),
      });
      break;
    case ClientCallState.TAKEN:
      if (known !== undefined) run.clientWaits.set(callId, { ...known, clientId });
      break;
    case ClientCallState.ANSWERED:
    case ClientCallState.EXPIRED:
      run.clientWaits.delete(callId);
      break;
    case ClientCallState.UNSPECIFIED:
      break;
  }
  // Its card shows it.
  changeCall(run, callId, () => undefined);
}

/** Returns what the event of a client's call says, in one line. */
export function clientCallLine({ event }: RunEvent): string {
  if (event.case !== "clientCall") return "";
  const { state, name, clientId, callId, content } = event.value;
  switch (state) {
    case ClientCallState.OPEN:
      return `${name} waits for a client`;
    case ClientCallState.TAKEN:
      return `${clientId} took ${callId}`;
    case ClientCallState.ANSWERED:
      return `${clientId} answered: ${content}`;
    case ClientCallState.EXPIRED:
      return `${callId}: no answer in time`;
    case ClientCallState.UNSPECIFIED:
      return "";
  }
  // A newer version wrote another state.
  return "";
}

/** How a call that waits for a client is doing. */
export function stateOfWait({ answeredByPerson, clientId }: ClientWait): NamedTone {
  if (clientId !== "") return { name: `with the client ${clientId}`, tone: "wait" };
  const who = answeredByPerson ? "a person at a client" : "a client";
  return { name: `waiting for ${who}`, tone: "wait" };
}

/** Until when the call can be answered, in words. Empty: without limit. */
export function untilOf({ untilMs }: ClientWait): string {
  return untilMs === undefined ? "" : `until ${formatTimeOfDay(untilMs)}`;
}
