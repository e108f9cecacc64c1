import { create } from "@bufbuild/protobuf";
import type { Run, RunEvent } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import { kindsIn } from "@reeve/run/head/event-kinds";
import type { RunHead } from "@reeve/run/head/run-head";
import { runOf } from "@reeve/run/head/run-of";
import { applyToSummary } from "@reeve/run/head/run-summary";

/**
 * The kinds of events that change the row of a run, or after which a parked run needs a dispatch. A step changes the status too,
 * but comes in one batch with other kinds.
 */
export const rowKinds = kindsIn({
  runCreated: true,
  runClaimed: true,
  runParked: true,
  runPrepared: true,
  status: true,
  approval: true,
  error: true,
  costSummary: true,
  messageSubmitted: true,
  clientCall: true,
  subtask: true,
  step: false,
  text: false,
  reasoning: false,
  textVoided: false,
  toolCall: false,
  toolCallStarted: false,
  toolResult: false,
  mcpProgress: false,
  plan: false,
  context: false,
  usage: true,
  modelCallStarted: false,
  modelTurn: false,
  modelCallFailed: false,
  modelRetryDue: false,
  tokensCounted: false,
  pluginsPinned: false,
  workflowPrepared: false,
  mediaPrepared: false,
  workflowContinued: false,
  mediaCallStarted: false,
  // A generation costs something.
  mediaCallEnded: true,
  remoteTask: false,
  // The models of guards cost something.
  pluginHookFinished: true,
  runEnding: false,
  messageInjected: false,
  memoryWritten: false,
  todosChanged: false,
  cancelRequested: false,
  budgetExceeded: false,
  treeStored: false,
});

/**
 * Returns what a list shows of a run: everything that no method but `GetRun` returns is left out. It has all waits, also those that lists
 * do not show, because later events remove them.
 */
export function rowOf(head: RunHead): Run {
  const row = create(RunSchema, {
    ...runOf(head),
    output: "",
    plan: [],
    agentRevision: 0,
    planHash: "",
    inputParts: [],
    waitingFor: [...head.waitingFor],
  });
  delete row.modelWait;
  delete row.structuredOutput;
  return row;
}

/** Returns the row after one more event. */
export function rowAfter(before: Run, event: RunEvent): Run {
  return { ...applyToSummary(before, event), lastSequence: event.sequence };
}
