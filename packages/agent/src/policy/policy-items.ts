import type { ModelSpec } from "@reeve/contracts/agent";
import type { ToolCatalog, ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import type { NetworkEntry } from "../spec/network-entry.ts";
import { nameOfClass } from "../tools/permission-classes.ts";
import type { NamedKind, PolicyItem } from "./policy.ts";

/** Returns the thing of a kind with a name. */
export function namedItem(kind: NamedKind, name: string): PolicyItem {
  return { kind, names: [name] };
}

/**
 * Returns what a policy decides on for a tool: its class, itself, its MCP server, its pool, and each image in which a toolhost of
 * the pool may execute it.
 */
export function toolItems(
  tool: ToolDescriptor,
  catalogs: readonly ToolCatalog[],
): readonly PolicyItem[] {
  const { name, permissionClass, source, pool } = tool;
  const server = source.startsWith("mcp:") ? source.slice("mcp:".length) : "";
  return [
    namedItem("tool_classes", nameOfClass(permissionClass)),
    namedItem("tools", name),
    ...(server === "" ? [] : [namedItem("mcp_servers", server)]),
    ...(pool === "" ? [] : [namedItem("pools", pool)]),
    ...(usesSandbox(tool) ? imagesOf(catalogs, pool) : []).map((image) =>
      namedItem("images", image),
    ),
  ];
}

/** Built-in tools of these classes work in the sandbox of the run. */
function usesSandbox({ source, permissionClass }: ToolDescriptor): boolean {
  const isOfClass =
    permissionClass === PermissionClass.EXECUTE ||
    permissionClass === PermissionClass.WORKSPACE_WRITE;
  return source === "builtin" && isOfClass;
}

/** Returns the images of the sandboxes of a pool. Default: of all pools. */
export function imagesOf(catalogs: readonly ToolCatalog[], pool?: string): readonly string[] {
  const ofPool = catalogs.filter((catalog) => pool === undefined || catalog.pool === pool);
  const images = ofPool.map(({ sandbox }) => sandbox?.image ?? "");
  return [...new Set(images)].filter((image) => image !== "").toSorted();
}

/**
 * Returns what a policy decides on for a model: its provider, and itself, by its id and as `provider:model`. A rule that denies
 * another id under which `models` has the same model of the provider denies it too.
 */
export function modelItems(
  { id, provider, upstreamName }: ModelSpec,
  models: readonly ModelSpec[],
): readonly PolicyItem[] {
  const same = models.filter(
    (other) => other.provider === provider && other.upstreamName === upstreamName,
  );
  return [
    namedItem("providers", provider),
    {
      kind: "models",
      names: [...new Set([id, `${provider}:${upstreamName}`])],
      aliases: same.map((other) => other.id),
    },
  ];
}

/** Returns what a policy decides on for a destination of the network. */
export function hostItem(entry: NetworkEntry): PolicyItem {
  return { kind: "network_hosts", entry };
}
