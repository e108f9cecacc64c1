/**
 * The types of plugins in TypeScript. A module that the operator names in REEVE_PLUGINS has a plugin as its default export:
 * `export default { ... } satisfies Plugin`. The runtime loads it in a thread of its own.
 */

/** A value of JSON. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };

export type JsonObject = { readonly [name: string]: Json };

/** What the runtime calls. Every function may be asynchronous, and must stop when `signal` aborts. */
export interface Plugin {
  /** Lowercase letters, digits, and `-`, at most 32. Agents name it in `plugin_ids`, and it is the name of the section that it reads. */
  readonly id: string;
  /** A run keeps the version that it started with. Change it with every change of behavior. */
  readonly version: string;
  /** JSON Schema of the section that it reads. Default: it reads none. */
  readonly sectionSchema?: JsonObject;
  /** The keys of the state of a run that it reads and changes. */
  readonly state?: { readonly [key: string]: StateKey };
  /** The time limit of each hook, in milliseconds, at most 300,000. Default: 10,000. */
  readonly deadlineMs?: number;
  /**
   * Hooks by phase. A hook whose answer was recorded never runs again; until then it may be repeated with the same `hookId`, also in
   * another process.
   */
  readonly hooks?: {
    /** Once, before `runStart`, also for a plugin that only a delegate names. */
    readonly activate?: Hook;
    readonly runStart?: Hook<{
      readonly runStart: { /** Cut at 512 KiB. */ readonly input: string };
    }>;
    readonly stepStart?: Hook;
    readonly beforeInference?: Hook<{ readonly inference: Inference }>;
    readonly afterInference?: Hook<{ readonly turn: Turn }>;
    readonly toolGate?: Hook<{ readonly call: Call }>;
    readonly beforeTool?: Hook<{ readonly call: Call }>;
    readonly afterTool?: Hook<{ readonly call: Call }>;
    readonly stepEnd?: Hook<{ readonly turn: Turn }>;
    readonly runEnd?: Hook<{
      readonly runEnd: { readonly status: "completed" | "error"; readonly message: string };
    }>;
    /** After the run has ended in any way, also before it was activated. The answer must be empty, and is not recorded. */
    readonly deactivate?: Hook<{
      readonly runEnd: {
        readonly status: "completed" | "error" | "cancelled";
        readonly message: string;
      };
    }>;
  };
  /** Handles the actions that hooks schedule. */
  readonly onAction?: Hook<{
    readonly action: {
      readonly name: string;
      readonly payload?: JsonObject;
      readonly round: number;
    };
  }>;
  /** Tools by name. Models call them `<plugin>__<name>`. */
  readonly tools?: { readonly [name: string]: PluginTool };
}

export interface StateKey {
  /** `exclusive`: a patch replaces the value, and no other plugin of an agent has the key. `sum`: numbers are added. `union`: new elements of a list are added. */
  readonly merge: "exclusive" | "sum" | "union";
  /** JSON Schema of patches. Default: any value. */
  readonly schema?: JsonObject;
}

export type Hook<Data = unknown> = (
  snapshot: Snapshot & Data,
  signal: AbortSignal,
) => Answer | undefined | void | Promise<Answer | undefined | void>;

/** What a hook sees of a run. */
export interface Snapshot {
  readonly hookId: string;
  /** From 1. */
  readonly attempt: number;
  readonly tenant: string;
  readonly runId: string;
  readonly agentId: string;
  /** Id of the subtask. Empty at the root. */
  readonly parentId: string;
  readonly depth: number;
  /** From 1; 0 outside of steps. */
  readonly step: number;
  /** The section of the agent. Undefined: it has none. */
  readonly section?: Json;
  /** The values of the declared keys, as far as they have one. */
  readonly state: JsonObject;
}

export interface Inference {
  readonly model: string;
  readonly tools: readonly string[];
  readonly messages: number;
}

export interface Turn {
  /** Cut at 512 KiB. */
  readonly text: string;
  readonly calls: readonly Call[];
}

export interface Call {
  readonly callId: string;
  readonly name: string;
  readonly arguments?: JsonObject;
  readonly permissionClass: string;
  readonly source: string;
  /** Empty before there is a result. Cut at 512 KiB; in a turn, all results together are. */
  readonly result: string;
  readonly isError: boolean;
}

/** What a hook answers. The strictest verdict of all plugins decides: stop, deny, ask, rewrite, allow. */
export interface Answer {
  readonly patches?: readonly { readonly key: string; readonly value: Json }[];
  readonly allow?: object;
  /** In `toolGate`: a person decides. */
  readonly ask?: { readonly reason?: string };
  /** In `toolGate` and `beforeTool`: the call is refused. */
  readonly deny?: { readonly reason?: string };
  /** In `toolGate`: the call gets other arguments. */
  readonly rewrite?: { readonly arguments: JsonObject };
  /** The run ends with the error `plugin_stopped`. */
  readonly stop?: { readonly reason?: string };
  /** In `beforeInference`. */
  readonly transform?: {
    readonly instructions?: string;
    readonly removedTools?: readonly string[];
  };
  /** At most 16, 64 that wait in a run, and 256 that follow one hook. Without a delay (`"30s"`, from 1 s to 7 days) they are handled before the run continues. */
  readonly actions?: readonly {
    readonly name: string;
    readonly payload?: JsonObject;
    readonly delay?: `${number}s`;
  }[];
}

export interface PluginTool {
  readonly description: string;
  /** JSON Schema of the arguments. Default: none. */
  readonly inputSchema?: JsonObject;
  /** Default: `network`. */
  readonly permissionClass?: string;
  /** Whether a call whose outcome is unknown may be executed again, with the same `callId`. Default: false. */
  readonly idempotent?: boolean;
  /** In milliseconds, at most 3,600,000. Default: 60,000. */
  readonly timeLimitMs?: number;
  /** Returns what the model reads. An exception is an error that the model reads. */
  execute(call: ToolCall, signal: AbortSignal): string | Promise<string>;
}

export interface ToolCall {
  readonly callId: string;
  readonly arguments?: JsonObject;
  readonly tenant: string;
  readonly runId: string;
  readonly section?: Json;
  readonly state: JsonObject;
}
