import type { ModelSpec } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { NetworkEntry } from "../spec/network-entry.ts";
import { nameOfClass } from "../tools/permission-classes.ts";
import type { NamedKind, PolicyItem } from "./policy.ts";

/** Returns the thing of a kind with a name. */
export function namedItem(kind: NamedKind, name: string): PolicyItem {
  return { kind, names: [name] };
}

/** Returns what a policy decides on for a tool: its class, itself, its MCP server, and its pool. */
export function toolItems({
  name,
  permissionClass,
  source,
  pool,
}: ToolDescriptor): readonly PolicyItem[] {
  const server = source.startsWith("mcp:") ? source.slice("mcp:".length) : "";
  return [
    namedItem("tool_classes", nameOfClass(permissionClass)),
    namedItem("tools", name),
    ...(server === "" ? [] : [namedItem("mcp_servers", server)]),
    ...(pool === "" ? [] : [namedItem("pools", pool)]),
  ];
}

/** Returns what a policy decides on for a model: its provider, and itself, by its id and as `provider:model`. */
export function modelItems({ id, provider, upstreamName }: ModelSpec): readonly PolicyItem[] {
  return [
    namedItem("providers", provider),
    { kind: "models", names: [...new Set([id, `${provider}:${upstreamName}`])] },
  ];
}

/** Returns what a policy decides on for a destination of the network. */
export function hostItem(entry: NetworkEntry): PolicyItem {
  return { kind: "network_hosts", entry };
}
