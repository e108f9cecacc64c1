import type { SubtaskChanged } from "@reeve/contracts/run";
import { approvedCall } from "../calls/approved-call.ts";
import type { Frame, Job } from "../state/frame.ts";
import { newFrame } from "../state/frame.ts";
import { childTools } from "./child-tools.ts";
import { jobsOf } from "./jobs-of.ts";
import { unitsFrom } from "../state/units.ts";

/** Returns the frame of a subtask at its start. Undefined if the caller has no such call. */
export function openSubtask(parent: Frame, started: SubtaskChanged): Frame | undefined {
  const { subtaskId, callId, index } = started;
  const call = parent.calls.find((candidate) => candidate.call.callId === callId);
  const job = call === undefined ? undefined : jobsOf(approvedCall(call))[index];
  if (job === undefined) return undefined;
  const child = newFrame({
    id: subtaskId,
    depth: parent.depth + 1,
    subtask: { parent: parent.id, callId, index, job },
    tools: childTools(parent, job),
    units: unitsFrom([{ kind: "user", text: inputOf(job), isInput: true }]),
  });
  return { ...child, fallback: parent.fallback };
}

function inputOf({ instructions, additionalContext }: Job): string {
  return additionalContext === "" ? instructions : `${instructions}\n\n${additionalContext}`;
}
