import type { SubtaskChanged } from "@reeve/contracts/run";
import { approvedCall } from "../calls/approved-call.ts";
import { delegateJob, delegateTools } from "../delegates/delegate-job.ts";
import type { Frame, Job } from "../state/frame.ts";
import { newFrame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { childTools } from "./child-tools.ts";
import { jobsOf } from "./jobs-of.ts";
import { unitsFrom } from "../state/units.ts";
import { workedMs } from "../state/worked-time.ts";
import { agentOf } from "../delegates/agent-of.ts";
import { withWorkflow } from "../workflow/workflow-of.ts";
import { withNodeTypes } from "../workflow-building/build-job.ts";

/** Returns the frame of a subtask at its start. Undefined if the caller has no such call. */
export function openSubtask(
  state: RunState,
  parent: Frame,
  started: SubtaskChanged,
): Frame | undefined {
  const { subtaskId, callId, index } = started;
  const call = parent.calls.find((candidate) => candidate.call.callId === callId);
  const job = call === undefined ? undefined : jobsOf(approvedCall(call))[index];
  if (job === undefined) return undefined;
  if (job.agentId !== undefined) return openDelegate(state, parent, started, job);
  const child = newFrame({
    id: subtaskId,
    depth: parent.depth + 1,
    subtask: { parent: parent.id, callId, index, job },
    delegate: parent.delegate,
    tools: childTools(parent, job),
    units: unitsFrom([{ kind: "user", text: inputOf(withNodeTypes(state, job)), isInput: true }]),
  });
  return { ...child, fallback: parent.fallback };
}

function openDelegate(
  state: RunState,
  parent: Frame,
  { subtaskId, callId, index }: SubtaskChanged,
  { agentId = "", ...given }: Job,
): Frame | undefined {
  const job = delegateJob(state, agentId, { ...given, agentId });
  if (job === undefined) return undefined;
  const { spec } = agentOf(state, agentId);
  const tools = delegateTools(state, parent, agentId, job);
  return newFrame(
    {
      id: subtaskId,
      depth: parent.depth + 1,
      subtask: { parent: parent.id, callId, index, job },
      delegate: { agentId, frameId: subtaskId },
      ...withWorkflow(state.head.created, spec, job.instructions, tools),
      units: unitsFrom([{ kind: "user", text: inputOf(job), isInput: true }]),
    },
    // The event that begins it is the last one that its owner wrote.
    workedMs(state.worked, state.worked.lastMs),
  );
}

function inputOf({ instructions, additionalContext }: Job): string {
  return additionalContext === "" ? instructions : `${instructions}\n\n${additionalContext}`;
}
