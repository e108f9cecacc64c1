import { create } from "@bufbuild/protobuf";
import type { Run } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import { hasEnded } from "./client-calls.ts";
import { firstWait } from "./model-waits.ts";
import type { RunHead } from "./run-head.ts";
import { isTerminal } from "./run-status.ts";
import { shownWaits } from "./waits.ts";

/** Returns the output of the run: its last answer at the root, as JSON if it has a schema. */
export function outputOf({ output, structured }: RunHead): string {
  if (structured !== undefined) return JSON.stringify(structured);
  const parts: string[] = [];
  const step = output?.value.step;
  for (let part = output; part !== undefined && part.value.step === step; part = part.before) {
    parts.push(part.value.text);
  }
  return parts.toReversed().join("");
}

/** Returns the run as clients see it. Throws for the head of a run that does not exist. */
export function runOf(head: RunHead): Run {
  if (!head.isCreated) throw new Error("cannot show a run that does not exist");
  const { runId, agentId, status, inputPreview, labels, threadId, scripted, startedBy } = head;
  const { createdAt, endedAt, error, cost, spentUsd, failedSubtasks, unknownEventSequence } = head;
  const modelWait = isTerminal(status) ? undefined : firstWait(head.modelWaits);
  return create(RunSchema, {
    runId,
    agentId,
    status,
    lastSequence: head.lastSequence,
    output: outputOf(head),
    ...(head.structured && { structuredOutput: head.structured }),
    inputPreview,
    inputParts: head.created?.parts ?? [],
    pendingApprovals: head.pendingApprovals,
    waitingFor: shownWaits(head.waitingFor.filter(({ id }) => !isClosed(head, id))),
    ...(spentUsd !== undefined && { spentUsd }),
    ...(failedSubtasks !== undefined && { failedSubtasks }),
    labels,
    threadId,
    scripted,
    startedBy,
    unknownEventSequence,
    incompleteReason: head.incompleteReason,
    plan: [...head.plan],
    agentRevision: head.created?.agentRevision ?? 0,
    planHash: head.prepared?.plan?.hash ?? "",
    ...(head.origin && { origin: head.origin }),
    ...(createdAt && { createdAt }),
    ...(endedAt && { endedAt }),
    ...(error && { error }),
    ...(cost && { cost }),
    ...(modelWait && { modelWait }),
  });
}

/** Whether the call of a client's tool needs no answer anymore. */
function isClosed({ clientCalls }: RunHead, callId: string): boolean {
  const call = clientCalls.get(callId);
  return call !== undefined && hasEnded(call);
}
