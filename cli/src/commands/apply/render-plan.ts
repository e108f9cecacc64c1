import { oneLine } from "../../render/plain-text.ts";
import type { ChangedField } from "../agents/spec-diff.ts";
import { changedFields, changedNames, specDiff } from "../agents/spec-diff.ts";
import { table } from "../../render/table.ts";
import type { Terminal } from "../../terminal.ts";
import { renderRegistryChanges } from "../models/registry-changes.ts";
import type { AgentChange, ApplyPlan } from "./apply-plan.ts";
import type { FileProblem } from "./read-agent-files.ts";
import { fieldsOfChange } from "./registry-plan.ts";

/** Returns the changes for people: a line for each, and the lines in which an update differs. */
export async function renderChanges(
  changes: readonly AgentChange[],
  { style }: Pick<Terminal, "style">,
): Promise<string> {
  const lines: string[] = [];
  for (const change of changes) {
    const id = oneLine(change.agentId, 63);
    switch (change.action) {
      case "create":
        lines.push(style("green", `+ create ${id}`), `  ${oneLine(change.file, 200)}\n`);
        break;
      case "delete":
        lines.push(style("red", `- delete ${id}`), `  no file has it\n`);
        break;
      case "update": {
        const before = change.stored.spec ?? change.spec;
        const names = changedNames(changedFields(before, change.spec));
        lines.push(style("yellow", `~ update ${id}`), `  ${oneLine(change.file, 200)}: ${names}\n`);
        lines.push(await specDiff(before, change.spec, { style, indent: "    " }));
        break;
      }
      case "unchanged":
        break;
    }
  }
  return `${lines.join("")}${summaryOf(changes)}\n`;
}

/** Returns the changes of models and providers, a line for each. Empty: there are none. */
export function renderRegistry(
  { registry }: Pick<ApplyPlan, "registry">,
  { style }: Pick<Terminal, "style">,
): string {
  if (registry === undefined || registry.changes.length === 0) return "";
  return renderRegistryChanges(registry.changes, style, (change) => {
    const fields = fieldsOfChange(change, registry);
    return fields.length === 0 ? "" : `  ${changedNames(fields)}`;
  });
}

/** Returns how many agents are created, updated, deleted, and unchanged. */
function summaryOf(changes: readonly AgentChange[]): string {
  const count = (action: AgentChange["action"]) =>
    changes.filter((change) => change.action === action).length;
  return `${count("create")} to create, ${count("update")} to update, ${count("delete")} to delete, ${count("unchanged")} unchanged`;
}

/** Returns a table of what is wrong with the files. */
export function renderProblems(problems: readonly FileProblem[]): string {
  const rows = problems.map(({ file, field, description, reason }) => [
    oneLine(file, 128),
    oneLine(field, 128),
    oneLine(description, 500),
    oneLine(reason, 64),
  ]);
  return table(["FILE", "FIELD", "PROBLEM", "RULE"], rows);
}

/** A change as JSON. */
export interface JsonChange {
  readonly agent: string;
  readonly action: AgentChange["action"];
  readonly file?: string;
  /** The stored revision before the change. */
  readonly revision?: number;
  readonly fields?: readonly ChangedField[];
}

export function jsonOfChange(change: AgentChange): JsonChange {
  const { agentId: agent, action } = change;
  if (change.action === "delete") return { agent, action, revision: change.stored.revision };
  const { file } = change;
  if (change.action === "create") return { agent, action, file };
  const { revision, spec: before } = change.stored;
  if (change.action === "unchanged" || before === undefined)
    return { agent, action, file, revision };
  return { agent, action, file, revision, fields: changedFields(before, change.spec) };
}
