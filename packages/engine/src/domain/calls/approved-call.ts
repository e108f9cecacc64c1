import { create } from "@bufbuild/protobuf";
import { ToolCallSchema } from "@reeve/contracts/tool";
import type { Call } from "../state/frame.ts";

/** Returns the call as it executes: with the arguments that a person edited, if any. */
export function approvedCall({ call, approval }: Call): Call["call"] {
  const edited = approval?.decision?.editedArguments;
  return edited === undefined ? call : create(ToolCallSchema, { ...call, arguments: edited });
}
