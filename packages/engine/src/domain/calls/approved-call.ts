import { create } from "@bufbuild/protobuf";
import { ToolCallSchema } from "@reeve/contracts/tool";
import type { Call } from "../state/frame.ts";

/** The call as it runs: with the arguments that were approved. */
export function approvedCall({ call, approval }: Call): Call["call"] {
  const edited = approval?.decision?.editedArguments;
  return edited === undefined ? call : create(ToolCallSchema, { ...call, arguments: edited });
}
