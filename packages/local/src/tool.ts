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
   * Executes one call, whose arguments match the schema. Models read the text, any other value as JSON, or the message of an
   * error that it throws. `signal` aborts when the call is no longer needed.
   */
  call(args: JsonObject, signal: AbortSignal): Promise<string | JsonObject> | string | JsonObject;
}

/**
 * Creates a tool that runs in this process. It has the class `network`, which every agent has. Throws a TypeError if JSON cannot
 * express the schema.
 */
export function tool({ name, description, inputSchema, idempotent, call }: ToolOptions): Tool {
  return {
    descriptor: create(ToolDescriptorSchema, {
      name,
      description,
      // Without properties that are undefined: JSON cannot express them.
      inputSchema: JSON.parse(JSON.stringify(inputSchema)) as JsonObject,
      idempotent: idempotent ?? false,
      permissionClass: PermissionClass.NETWORK,
      source: "provider:local",
    }),
    async call({ args }, signal) {
      try {
        return resultOf(await call(args, signal));
      } catch (error) {
        signal.throwIfAborted();
        return { content: error instanceof Error ? error.message : String(error), isError: true };
      }
    },
  };
}

/** Converts what a call returns. Programs in JavaScript may return any value, or none, and no type is checked for them. */
function resultOf(value: unknown): Awaited<ReturnType<Tool["call"]>> {
  if (typeof value === "string") return { content: value, isError: false };
  // Undefined for undefined and functions.
  const content = (JSON.stringify(value) as string | undefined) ?? "";
  // Contains only what JSON can express, such as no property that is undefined.
  const structured: unknown = content === "" ? undefined : JSON.parse(content);
  return isObject(structured)
    ? { content, structured, isError: false }
    : { content, isError: false };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
