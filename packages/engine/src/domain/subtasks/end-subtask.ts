import { previewOf } from "@reeve/run/tree/preview-of";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame, Subtask } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { frameOf } from "../state/run-state.ts";
import { incompleteReason } from "../incomplete-answer.ts";
import { outcomeOf } from "./outcome.ts";

/** Returns the fact that a subtask has ended, with its result or its failure. */
export function endSubtask(
  state: RunState,
  frame: Frame,
  { parent, callId, index, job }: Subtask,
  failure: { readonly error: string; readonly message: string } = { error: "", message: "" },
): Fact {
  const end = { ...failure, incompleteReason: incompleteReason(frame) };
  return fact(scopeOf(frameOf(state, parent)), {
    case: "subtask",
    value: {
      subtaskId: frame.id,
      callId,
      index,
      title: job.title,
      agentId: job.agentId ?? "",
      ended: true,
      isError: failure.error !== "",
      ...end,
      resultPreview: previewOf(outcomeOf(frame, end).content),
    },
  });
}
