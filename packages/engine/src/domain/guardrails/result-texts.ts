import type { ToolResult } from "@reeve/contracts/tool";
import type { Frame } from "../state/frame.ts";
import { taskKey } from "../subtasks/outcome.ts";

/** The texts of a result, and the place of the whole answer of a subtask of which the result has a part. Undefined: there is none. */
interface ResultTexts {
  readonly texts: readonly string[];
  readonly wholeAt: number | undefined;
}

/** Returns the texts of a result that models and nodes may read. */
export function resultTexts(
  { workflow, pendingMemory }: Pick<Frame, "workflow" | "pendingMemory">,
  { callId, content, structured }: ToolResult,
): ResultTexts {
  // Models read the text alone, and nodes of workflows the record.
  const json = workflow && structured && JSON.stringify(structured);
  const texts = json === undefined || json === content ? [content] : [content, json];
  const whole = pendingMemory.get(taskKey(callId));
  return whole === undefined || texts.includes(whole)
    ? { texts, wholeAt: undefined }
    : { texts: [...texts, whole], wholeAt: texts.length };
}
