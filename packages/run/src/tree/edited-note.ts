import type { ToolResult } from "@reeve/contracts/tool";

/** Returns what the model reads with the result of a call whose arguments a person or a plugin replaced; empty if nobody did. */
export function editedNote(result: ToolResult | undefined): string {
  const edited = result?.metadata?.editedArguments ?? "";
  if (edited === "") return "";
  const plugin = result?.metadata?.rewrittenBy ?? "";
  return plugin !== ""
    ? `[the plugin ${plugin} replaced the arguments of this call; it ran with: ${edited}]`
    : `[a person replaced the arguments of this call before it was approved; it ran with: ${edited}]`;
}
