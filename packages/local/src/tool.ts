import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Tool } from "@reeve/calls/ports/tool";
import { PermissionClass, ToolDescriptorSchema } from "@reeve/contracts/tool";

export interface ToolOptions {
  /** The name by which models call the tool: letters, digits, `_`, and `-`. */
  readonly name: string;
  /** What the tool does. Models read it. */
  readonly description: string;
  /** JSON Schema of the arguments. Its type is object. */
  readonly inputSchema: JsonObject;
  /** Whether a call may be executed again. Default: false. */
  readonly idempotent?: boolean;
  /**
   * Executes one call, whose arguments match the schema. Models read the text, an object as JSON, or the message of an error
   * that it throws. `signal` aborts when the call is no longer needed.
   */
  call(args: JsonObject, signal: AbortSignal): Promise<string | JsonObject> | string | JsonObject;
}

/** Creates a tool that runs in this process. It has the class `network`, which every agent has. */
export function tool({ name, description, inputSchema, idempotent, call }: ToolOptions): Tool {
  return {
    descriptor: create(ToolDescriptorSchema, {
      name,
      description,
      inputSchema,
      idempotent: idempotent ?? false,
      permissionClass: PermissionClass.NETWORK,
      source: "provider:local",
    }),
    async call({ args }, signal) {
      try {
        const result = await call(args, signal);
        if (typeof result === "string") return { content: result, isError: false };
        return { content: JSON.stringify(result), structured: result, isError: false };
      } catch (error) {
        signal.throwIfAborted();
        return { content: error instanceof Error ? error.message : String(error), isError: true };
      }
    },
  };
}
