import { ApprovalState } from "@reeve/contracts/approval";
import type { ClientCallChanged, RunEvent } from "@reeve/contracts/run";
import { ClientCallState } from "@reeve/contracts/run";

/** What a run waits for, by the id of the call or of the loop that waits, with the words for people. */
export type Awaited = ReadonlyMap<string, string>;

/** No id of a call begins with this. */
const modelPrefix = "model of ";
const clientPrefix = "client of ";

/**
 * Returns what a run waits for after one more event: answers of models, clients, and tools that work. A pending approval is not listed:
 * the person who watches has been asked.
 */
export function awaitedAfter(before: Awaited, { event, parentId }: RunEvent): Awaited {
  const model = `${modelPrefix}${parentId}`;
  switch (event.case) {
    case "modelCallStarted":
      return new Map(before).set(model, "the model");
    case "modelTurn":
    case "modelCallFailed":
      return without(before, model);
    case "toolCall":
      return new Map(before).set(event.value.callId, `the tool ${event.value.name}`);
    case "toolResult": {
      const callId = event.value.result?.callId ?? "";
      return without(without(before, callId), clientPrefix + callId);
    }
    case "clientCall":
      return withClientCall(before, event.value);
    case "approval": {
      const { call, state } = event.value.approval ?? {};
      if (call === undefined) return before;
      return state === ApprovalState.PENDING
        ? without(before, call.callId)
        : new Map(before).set(call.callId, `the tool ${call.name}`);
    }
    // The new owner calls the models again. The tools of the former one work on.
    case "runClaimed":
      return new Map([...before].filter(([id]) => !id.startsWith(modelPrefix)));
    // A run without an owner waits for nobody who works, but clients answer all the same.
    case "runParked":
      return new Map([...before].filter(([id]) => id.startsWith(clientPrefix)));
    case "runCreated":
    case "runPrepared":
    case "status":
    case "step":
    case "text":
    case "reasoning":
    case "textVoided":
    case "toolCallStarted":
    case "mcpProgress":
    case "subtask":
    case "plan":
    case "context":
    case "usage":
    case "modelRetryDue":
    case "tokensCounted":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "mediaCallStarted":
    case "mediaCallEnded":
    case "remoteTask":
    case "pluginHookFinished":
    case "runEnding":
    case "messageSubmitted":
    case "messageInjected":
    case "memoryWritten":
    case "todosChanged":
    case "cancelRequested":
    case "budgetExceeded":
    case "error":
    case "costSummary":
    case "treeStored":
    case undefined:
      return before;
  }
}

function without(awaited: Awaited, id: string): Awaited {
  return new Map([...awaited].filter(([other]) => other !== id));
}

function withClientCall(
  before: Awaited,
  { callId, name, state, clientId, answeredByPerson }: ClientCallChanged,
): Awaited {
  const id = clientPrefix + callId;
  if (state === ClientCallState.OPEN) {
    const who = answeredByPerson ? "a person at a client" : "a client";
    return new Map(without(before, callId)).set(id, `${who} with the tool ${name}`);
  }
  return state === ClientCallState.TAKEN
    ? new Map(before).set(id, `the client ${clientId}`)
    : without(before, id);
}
