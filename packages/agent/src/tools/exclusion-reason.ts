import type { AgentSpec } from "@reeve/contracts/agent";
import { isStorable } from "@reeve/contracts/nesting";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import { executesCode } from "./isolation.ts";
import { runtimeSource } from "./runtime-tools.ts";
import { grantedClasses, nameOfClass } from "./permission-classes.ts";

/** A tool of a catalog, and the isolation of the toolhosts that offer it. */
export interface OfferedTool {
  readonly descriptor: ToolDescriptor;
  readonly isolation: string;
}

/** Which category of the toolkit a built-in tool belongs to; the others belong to none and cannot be switched off. */
const categories: Readonly<Record<string, "filesystem" | "terminal" | "code" | "planning">> = {
  read_file: "filesystem",
  write_file: "filesystem",
  edit_file: "filesystem",
  list_files: "filesystem",
  glob: "filesystem",
  grep: "filesystem",
  run_command: "terminal",
  execute_code: "code",
  add_todo: "planning",
  list_todos: "planning",
  update_todo_status: "planning",
  complete_todo: "planning",
};

/** How deep the schema of a tool may be nested: it is kept in the log of each run that has the tool. */
const maxSchemaLevels = 40;

/** Why policy leaves a tool out of an agent, whatever its catalog filter says. Undefined: the agent may have it. */
export function exclusionReason(
  spec: AgentSpec,
  isEditor: boolean,
): ({ descriptor, isolation }: OfferedTool) => string | undefined {
  const classes = grantedClasses(spec.permissionClasses, isEditor);
  return ({ descriptor: { name, source, permissionClass, inputSchema }, isolation }) => {
    if (!isStorable(inputSchema, maxSchemaLevels)) {
      return `its schema is nested deeper than ${maxSchemaLevels} levels`;
    }
    if (!classes.has(permissionClass)) {
      return `it needs the permission class ${nameOfClass(permissionClass)}`;
    }
    if (permissionClass === PermissionClass.EXECUTE && !executesCode(isolation)) {
      return "its toolhosts have no sandbox to run it in";
    }
    const category = ["builtin", runtimeSource].includes(source) ? categories[name] : undefined;
    if (category !== undefined && spec.deepAgent?.[category] === false) {
      return `deep_agent.${category} is off`;
    }
    const server = source.startsWith("mcp:") ? source.slice("mcp:".length) : undefined;
    if (server !== undefined && !spec.mcpServers.includes(server)) {
      return `mcp_servers does not name ${server}`;
    }
    return undefined;
  };
}
