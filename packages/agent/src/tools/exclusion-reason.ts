import type { AgentSpec } from "@reeve/contracts/agent";
import { isStorable } from "@reeve/contracts/rules/nesting";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import { executesCode } from "./isolation.ts";
import { missingOptIn } from "./opt-in.ts";
import { runtimeSource } from "./runtime-tools.ts";
import type { CallerPolicy } from "../policy/caller-policy.ts";
import { grantedClasses, nameOfClass } from "./permission-classes.ts";

/** A tool of a catalog, with the isolation of the toolhosts that offer it. */
export interface OfferedTool {
  readonly descriptor: ToolDescriptor;
  readonly isolation: string;
}

/** The fields of `deep_agent` that disable the tools of a category. */
const disablingFields = new Map<ToolCategory, "filesystem" | "terminal" | "code" | "planning">([
  [ToolCategory.FILESYSTEM, "filesystem"],
  [ToolCategory.TERMINAL, "terminal"],
  [ToolCategory.CODE, "code"],
  [ToolCategory.PLANNING, "planning"],
]);

/** What decides on tools beside the agent. */
interface ExclusionContext {
  readonly policy: Pick<CallerPolicy, "grants">;
  /** Default: the agent works for nobody else. */
  readonly isDelegate?: boolean;
  readonly isEditor: boolean;
  /** Default: the deployment has none. */
  readonly hasNodeRegistry?: boolean;
}

/** How deep the schema of a tool may be nested: the log of each run that has the tool stores it. */
const maxSchemaLevels = 40;

/**
 * Returns a function that gives the reason why an agent cannot have a tool, whatever its filter and the operator's policy say, or
 * undefined when it can.
 */
export function exclusionReason(
  spec: AgentSpec,
  { policy, isDelegate = false, isEditor, hasNodeRegistry = false }: ExclusionContext,
): ({ descriptor, isolation }: OfferedTool) => string | undefined {
  const isEditing = isEditor && hasNodeRegistry;
  const classes = grantedClasses(spec.permissionClasses, policy.grants, isEditing);
  return ({ descriptor, isolation }) => {
    const { source, permissionClass, inputSchema, category } = descriptor;
    if (!isStorable(inputSchema, maxSchemaLevels)) {
      return `its schema is nested deeper than ${maxSchemaLevels} levels`;
    }
    if (permissionClass === PermissionClass.EDITOR_MUTATE && !isEditing) {
      const missing = hasNodeRegistry
        ? "the run has no chat_context of an editor"
        : "this deployment has no node registry";
      return `it changes the contents of an editor, and ${missing}`;
    }
    if (isDelegate && permissionClass === PermissionClass.SECRETS) {
      return "only the agent of a run has tools of the class secrets, and no delegate";
    }
    if (!classes.has(permissionClass)) {
      return `it needs the permission class ${nameOfClass(permissionClass)}`;
    }
    const optIn = missingOptIn(spec, descriptor);
    if (optIn !== undefined) return optIn;
    if (permissionClass === PermissionClass.EXECUTE && !executesCode(isolation)) {
      return "its toolhosts have no sandbox to execute it in";
    }
    const isBuiltIn = source === "builtin" || source === runtimeSource;
    const disabled = isBuiltIn ? disabledCategory(spec, category) : undefined;
    if (disabled !== undefined) return disabled;
    const server = source.startsWith("mcp:") ? source.slice("mcp:".length) : undefined;
    if (server !== undefined && !spec.mcpServers.includes(server)) {
      return `mcp_servers does not name ${server}`;
    }
    return undefined;
  };
}

/** Returns which disabled category excludes a built-in tool. Undefined: none. */
function disabledCategory({ deepAgent }: AgentSpec, category: ToolCategory): string | undefined {
  if (deepAgent === undefined) return undefined;
  const disabled = [...disablingFields.values()].filter((field) => deepAgent[field] === false);
  const field = disablingFields.get(category);
  if (field !== undefined)
    return disabled.includes(field) ? `deep_agent.${field} is off` : undefined;
  // A toolhost of an earlier version does not announce categories: the tool may be one that the agent disables.
  return category !== ToolCategory.GENERAL && disabled.length > 0
    ? `deep_agent.${disabled.join(", deep_agent.")} is off, and its toolhost announces no category for it; update the toolhost`
    : undefined;
}
