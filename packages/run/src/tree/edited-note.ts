import type { ToolResult } from "@reeve/contracts/tool";

/** Returns what the model reads with the result of a call whose arguments a person replaced; empty if nobody did. */
export function editedNote(result: ToolResult | undefined): string {
  const edited = result?.metadata?.editedArguments ?? "";
  return edited === ""
    ? ""
    : `[a person replaced the arguments of this call before it was approved; it ran with: ${edited}]`;
}
