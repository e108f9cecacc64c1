import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import { companionsOf } from "@reeve/agent/tools/companion-tools";
import { finishTool } from "@reeve/agent/tools/finish-tool";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import type { Frame, Job } from "../state/frame.ts";

/** The permission classes that only the root has. */
const rootOnly: ReadonlySet<PermissionClass> = new Set([
  PermissionClass.SECRETS,
  PermissionClass.EDITOR_MUTATE,
]);

/** Returns the tools that a frame may give to its subtasks, by name. */
export function inheritableTools({
  tools,
}: Pick<Frame, "tools">): ReadonlyMap<string, ToolDescriptor> {
  return new Map(
    [...tools].filter(
      ([name, { permissionClass }]) => name !== finishSubtaskName && !rootOnly.has(permissionClass),
    ),
  );
}

/**
 * Returns the tools of a subtask: those of its job, those that their results may name, and `finish_subtask` if its result has
 * a schema.
 */
export function childTools(
  parent: Pick<Frame, "tools">,
  { tools: names, outputSchema }: Job,
): ReadonlyMap<string, ToolDescriptor> {
  const wanted = names === undefined ? undefined : new Set(names);
  const inheritable = inheritableTools(parent);
  const tools = new Map(
    [...inheritable].filter(([name]) => wanted === undefined || wanted.has(name)),
  );
  for (const name of companionsOf(tools.values())) {
    const tool = inheritable.get(name);
    if (tool !== undefined) tools.set(name, tool);
  }
  if (outputSchema !== undefined) {
    tools.set(finishSubtaskName, finishTool(outputSchema, "subtask"));
  }
  return tools;
}
