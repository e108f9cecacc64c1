import { create } from "@bufbuild/protobuf";
import type { AgentSpec, OfferedPlugin } from "@reeve/contracts/agent";
import type { PluginTool } from "@reeve/contracts/extensions/plugin";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass, ToolDescriptorSchema } from "@reeve/contracts/tool";
import { permissionClassOf } from "../tools/permission-classes.ts";

const prefix = "plugin:";

/** Whether a plugin offers the tool, so that the runtime has the plugin execute its calls. */
export function isOfPlugin({ source }: Pick<ToolDescriptor, "source">): boolean {
  return source.startsWith(prefix);
}

/** Returns the id of the plugin that offers a tool, and the name that the plugin gives the tool. */
export function pluginOfTool({ source, name }: Pick<ToolDescriptor, "source" | "name">): {
  readonly pluginId: string;
  readonly tool: string;
} {
  const pluginId = source.slice(prefix.length);
  return { pluginId, tool: name.slice(`${pluginId}__`.length) };
}

/** Returns the tools of the plugins that an agent names. */
export function pluginTools(
  { pluginIds }: Pick<AgentSpec, "pluginIds">,
  offered: readonly OfferedPlugin[],
): readonly ToolDescriptor[] {
  return offered.flatMap(({ pluginDescriptor: descriptor, problem }) => {
    if (descriptor === undefined || problem !== "" || !pluginIds.includes(descriptor.id)) return [];
    return descriptor.tools.map((tool) => toolOf(descriptor.id, tool));
  });
}

function toolOf(plugin: string, tool: PluginTool): ToolDescriptor {
  const { name, description, inputSchema, idempotent } = tool;
  return create(ToolDescriptorSchema, {
    name: `${plugin}__${name}`,
    description,
    inputSchema: inputSchema ?? { type: "object", properties: {}, additionalProperties: false },
    permissionClass: permissionClassOf(tool.permissionClass) ?? PermissionClass.NETWORK,
    source: `${prefix}${plugin}`,
    parallelSafe: true,
    idempotent,
  });
}
