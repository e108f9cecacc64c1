import type { AgentSpec } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { ToolCatalog, ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { catalogFilter, filterWarnings } from "./catalog-filter.ts";
import { grantedClasses } from "./permission-classes.ts";

/** The tools of an agent, and what is suspicious about how it chose them. */
export interface Toolbelt {
  /** By name. */
  readonly tools: readonly ToolDescriptor[];
  readonly warnings: readonly string[];
}

/** Which category of the toolkit a built-in tool belongs to; the others belong to none and cannot be switched off. */
const categories: Readonly<Record<string, "filesystem" | "terminal" | "code">> = {
  read_file: "filesystem",
  write_file: "filesystem",
  edit_file: "filesystem",
  list_files: "filesystem",
  glob: "filesystem",
  grep: "filesystem",
  run_command: "terminal",
  execute_code: "code",
};

/**
 * The tools that an agent has: registered, permitted by class, of an MCP server that it names, of a category that it did
 * not switch off, and not filtered out. Throws a Failure with reason TOOL_ID_CONFLICT when two sources offer one name.
 */
export function toolbelt(spec: AgentSpec, catalogs: readonly ToolCatalog[]): Toolbelt {
  const registered = registeredTools(catalogs);
  const classes = grantedClasses(spec.permissionClasses);
  const isInFilter = catalogFilter(spec);
  const tools = [...registered.values()].filter(
    ({ descriptor, isolation }) =>
      classes.has(descriptor.permissionClass) &&
      (descriptor.permissionClass !== PermissionClass.EXECUTE || isolation !== "none") &&
      isSwitchedOn(spec, descriptor) &&
      isFromNamedServer(spec, descriptor) &&
      isInFilter(descriptor.name),
  );
  return {
    tools: tools.map(({ descriptor }) => descriptor).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    warnings: filterWarnings(spec, [...registered.keys()]),
  };
}

interface Registered {
  readonly descriptor: ToolDescriptor;
  readonly isolation: string;
}

function registeredTools(catalogs: readonly ToolCatalog[]): ReadonlyMap<string, Registered> {
  const registered = new Map<string, Registered>();
  for (const { tools, isolation } of catalogs) {
    for (const descriptor of tools) {
      const other = registered.get(descriptor.name);
      if (other !== undefined) throw conflict(other.descriptor, descriptor);
      registered.set(descriptor.name, { descriptor, isolation });
    }
  }
  return registered;
}

function conflict(first: ToolDescriptor, second: ToolDescriptor): Failure {
  return new Failure(
    "precondition",
    ErrorReason.TOOL_ID_CONFLICT,
    `two sources offer the tool ${first.name}: ${where(first)} and ${where(second)}; take one away`,
    { metadata: { tool: first.name } },
  );
}

function where({ source, pool }: ToolDescriptor): string {
  return `${source} in pool ${pool}`;
}

function isSwitchedOn({ deepAgent }: AgentSpec, { name, source }: ToolDescriptor): boolean {
  const category = source === "builtin" ? categories[name] : undefined;
  return category === undefined || (deepAgent?.[category] ?? true);
}

function isFromNamedServer({ mcpServers }: AgentSpec, { source }: ToolDescriptor): boolean {
  return !source.startsWith("mcp:") || mcpServers.includes(source.slice("mcp:".length));
}
