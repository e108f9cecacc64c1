import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { OfferedPlugin } from "@reeve/contracts/agent";
import { OfferedPluginSchema } from "@reeve/contracts/agent";
import type {
  ExecutePluginToolRequest,
  PluginDescriptorSchema,
  RunHookRequest,
} from "@reeve/contracts/extensions/plugin";
import {
  ExecutePluginToolResponseSchema,
  HookPhase,
  HookPhaseSchema,
  RunHookResponseSchema,
} from "@reeve/contracts/extensions/plugin";
import type { PluginHost } from "../../../src/ports/plugin-host.ts";

type AnswerInit = MessageInitShape<typeof RunHookResponseSchema>;

export interface MemoryPlugin {
  readonly descriptor?: Omit<MessageInitShape<typeof PluginDescriptorSchema>, "$typeName">;
  readonly ignoresFailures?: boolean;
  /** Returns the answer to a hook. Default: nothing. */
  readonly hook?: (request: RunHookRequest) => AnswerInit | Promise<AnswerInit>;
  readonly tool?: (request: ExecutePluginToolRequest) => string;
}

export const allPhases: readonly HookPhase[] = Object.values(HookPhase).filter(
  (phase) => phase !== HookPhase.UNSPECIFIED && phase !== HookPhase.ACTION,
);

/** Plugins in memory, by id, with a hook in every phase unless they say otherwise. Keeps the requests to them. */
export class MemoryPlugins {
  readonly offers: readonly OfferedPlugin[];
  readonly host: PluginHost;
  readonly requests: RunHookRequest[] = [];

  constructor(plugins: Readonly<Record<string, MemoryPlugin>>) {
    this.offers = Object.entries(plugins).map(
      ([id, { descriptor = {}, ignoresFailures = false }]) =>
        create(OfferedPluginSchema, {
          pluginDescriptor: {
            version: "1",
            phases: [...allPhases],
            handlesActions: true,
            ...descriptor,
            id,
          },
          digest: "d",
          origin: "package",
          ignoresFailures,
        }),
    );
    this.host = {
      runHook: async (pinned, request, signal) => {
        signal.throwIfAborted();
        this.requests.push(request);
        const answer = await plugins[pinned.pluginDescriptor?.id ?? ""]?.hook?.(request);
        return create(RunHookResponseSchema, answer ?? {});
      },
      executeTool: async (pinned, request) => {
        const content = plugins[pinned.pluginDescriptor?.id ?? ""]?.tool?.(request) ?? "";
        return create(ExecutePluginToolResponseSchema, { content });
      },
    };
  }

  /** The phases of the hooks that ran, in order. */
  get phases(): readonly string[] {
    return this.requests.map(({ phase }) => HookPhaseSchema.value[phase]?.localName ?? "");
  }
}
