import type {
  ExecutePluginToolRequest,
  ExecutePluginToolResponse,
  PluginDescriptor,
  RunHookRequest,
  RunHookResponse,
} from "@reeve/contracts/extensions/plugin";

/** A plugin that the operator configured, wherever its code runs. Each method throws a PluginFailure when there is no answer. */
export interface Supplier extends AsyncDisposable {
  readonly origin: "package" | "grpc";
  /** Returns what the plugin says of itself now. */
  describe(signal: AbortSignal): Promise<PluginDescriptor>;
  /** What identifies its code, beside its description. Empty: nothing does. */
  codeDigest(): Promise<string>;
  runHook(
    request: RunHookRequest,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<RunHookResponse>;
  executeTool(
    request: ExecutePluginToolRequest,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<ExecutePluginToolResponse>;
}
