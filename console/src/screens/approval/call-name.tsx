import type { ToolCall } from "@reeve/contracts/tool";
import { nameOfCall, questionOf } from "../../format/names.ts";

/** Names what is decided about: the question of a workflow's approval, or else the node or the tool. */
export function CallName({ call }: { readonly call: ToolCall | undefined }) {
  const question = questionOf(call);
  if (question !== undefined) return <strong>{question}</strong>;
  return <span className="mono">{nameOfCall(call)}</span>;
}
