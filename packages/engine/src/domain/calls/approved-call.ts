import { create } from "@bufbuild/protobuf";
import type { Decision } from "@reeve/contracts/approval";
import type { ToolCall } from "@reeve/contracts/tool";
import { ToolCallSchema } from "@reeve/contracts/tool";
import type { Call } from "../state/frame.ts";
import { onceForCall } from "./once-for-call.ts";

/** One object for each decision, so that what is computed for an edited call is computed once. */
const edited = onceForCall((call, { editedArguments }: Decision): ToolCall =>
  create(ToolCallSchema, { ...call, ...(editedArguments && { arguments: editedArguments }) }),
);

/** Returns the call as it executes: with the arguments that a person edited, if any. */
export function approvedCall({ call, approval }: Call): Call["call"] {
  const decision = approval?.decision;
  return decision?.editedArguments === undefined ? call : edited(call, decision);
}
