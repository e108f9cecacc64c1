import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ClientManifestSchema } from "#contracts/tool";

/** A tool that this process executes. */
export interface ClientTool {
  /** The name by which the model calls the tool. */
  readonly name: string;
  /** What the tool does. The model reads it. */
  readonly description: string;
  /** JSON Schema of the arguments. Default: the tool has none. */
  readonly inputSchema?: JsonObject;
  /** JSON Schema of the result, which then is an object. The server checks it. */
  readonly outputSchema?: JsonObject;
  /** `network`, `editor_mutate`, or another class that the deployment permits. Default: `network`. */
  readonly permissionClass?: string;
  /** Whether calls may run beside other calls of a turn. Default: true. */
  readonly parallelSafe?: boolean;
  /** How long a call waits for its answer. Default: 60,000, or a day if a person answers. */
  readonly timeoutMs?: number;
  /** Whether a person answers. The run then occupies no worker while it waits. Default: false. */
  readonly answeredByPerson?: boolean;
  /** Executes a call, and returns its result: text, a plain object, or nothing. What it throws, the model reads. */
  execute(
    args: JsonObject,
    call: ReceivedCall,
  ): Promise<string | JsonObject | void> | string | JsonObject | void;
}

/** A call that this process has received. */
export interface ReceivedCall {
  readonly runId: string;
  readonly callId: string;
  /** Until when it can be answered. */
  readonly deadline: Date;
  /** Whether an earlier stream of the same client received the call: another process with its id may have executed it. */
  readonly isRepeated: boolean;
  /** Aborts when the call needs no answer anymore. */
  readonly signal: AbortSignal;
}

/** Returns what a client tells a server about its tools. Pass it as `clientTools` to `startRun`, so that one run has them. */
export function manifestOf(
  clientId: string,
  tools: readonly ClientTool[],
): MessageInitShape<typeof ClientManifestSchema> {
  return {
    clientId,
    tools: tools.map((tool) => {
      const { name, description, inputSchema, outputSchema, parallelSafe, timeoutMs } = tool;
      const { permissionClass = "", answeredByPerson = false } = tool;
      return {
        name,
        description,
        permissionClass,
        answeredByPerson,
        ...(inputSchema && { inputSchema }),
        ...(outputSchema && { outputSchema }),
        ...(parallelSafe !== undefined && { parallelSafe }),
        ...(timeoutMs !== undefined && { timeout: durationFromMs(timeoutMs) }),
      };
    }),
  };
}
