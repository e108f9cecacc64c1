import type { OfferedPlugin } from "@reeve/contracts/agent";
import type {
  ExecutePluginToolRequest,
  ExecutePluginToolResponse,
  RunHookRequest,
  RunHookResponse,
} from "@reeve/contracts/extensions/plugin";

/** Calls the plugins of the operator. */
export interface PluginHost {
  /** Whether nothing is known of a plugin because it did not answer, so that a run should be prepared later. Absent: never. */
  isAway?(pluginId: string): boolean;
  /**
   * Runs a hook of the plugin that a run is pinned to, within its deadline. Throws a PluginFailure when there is no answer, and the
   * signal's reason when `signal` aborts.
   */
  runHook(
    pinned: OfferedPlugin,
    request: RunHookRequest,
    signal: AbortSignal,
  ): Promise<RunHookResponse>;
  /** Executes a call of a tool of the plugin that a run is pinned to. Throws as `runHook` does. */
  executeTool(
    pinned: OfferedPlugin,
    request: ExecutePluginToolRequest,
    signal: AbortSignal,
  ): Promise<ExecutePluginToolResponse>;
}

export interface PluginFailureOptions extends ErrorOptions {
  /** Whether a repetition with the same id may succeed. */
  readonly retryable: boolean;
  /** Whether the plugin may have begun. Default: yes. */
  readonly mayHaveBegun?: boolean;
  /** Whether this worker does not have the plugin of the run, and another one may. Default: no. */
  readonly isElsewhere?: boolean;
}

/** Thrown when a plugin gives no answer. Says why, without the name of the plugin. */
export class PluginFailure extends Error {
  override readonly name = "PluginFailure";
  readonly retryable: boolean;
  readonly mayHaveBegun: boolean;
  readonly isElsewhere: boolean;

  constructor(
    message: string,
    { retryable, mayHaveBegun = true, isElsewhere = false, ...options }: PluginFailureOptions,
  ) {
    super(message, options);
    this.retryable = retryable;
    this.mayHaveBegun = mayHaveBegun;
    this.isElsewhere = isElsewhere;
  }
}
