import type { JsonObject } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { PermissionDecision, ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionBehavior, ToolDescriptorSchema } from "@reeve/contracts/tool";
import { decideCall } from "../src/permission/decide-call.ts";
import type { PermissionLevel } from "../src/permission/permission-levels.ts";
import { agentLevel } from "../src/permission/permission-levels.ts";

/** Rules as a test writes them: `deny read_file(*.key)`. */
export type RuleLine = `${"ask" | "allow" | "deny"} ${string}`;

/** Returns the section of an agent spec that has these rules. */
export function permission(
  defaultBehavior: string | undefined,
  ...rules: readonly RuleLine[]
): { permission: Value } {
  const section: JsonObject = {
    ...(defaultBehavior !== undefined && { default_behavior: defaultBehavior }),
    rules: rules.map((line) => {
      const at = line.indexOf(" ");
      return { behavior: line.slice(0, at), tool: line.slice(at + 1) };
    }),
  };
  return { permission: fromJson(ValueSchema, section) };
}

/** Returns the rules of an agent. */
export function levelOf(
  defaultBehavior: string | undefined,
  ...rules: readonly RuleLine[]
): PermissionLevel {
  const level = agentLevel({ sections: permission(defaultBehavior, ...rules) });
  if (level === undefined) throw new Error("the agent has no rules");
  return level;
}

/** Returns a tool that requires the first of its arguments. */
export function toolNamed(name: string, ...required: readonly string[]): ToolDescriptor {
  const inputSchema = { type: "object", required: [...required] };
  return create(ToolDescriptorSchema, { name, source: "builtin", inputSchema });
}

const names = new Map<PermissionBehavior, string>([
  [PermissionBehavior.ASK, "ask"],
  [PermissionBehavior.ALLOW, "allow"],
  [PermissionBehavior.DENY, "deny"],
]);

/** Returns a decision as `deny read_file(*.key)`. */
export function lineOf(decision: PermissionDecision | undefined): string | undefined {
  return decision && `${names.get(decision.behavior) ?? ""} ${decision.rule}`;
}

/** Returns what levels decide about a call, as `deny read_file(*.key)`. */
export function decide(
  levels: PermissionLevel | readonly PermissionLevel[],
  tool: ToolDescriptor,
  args: JsonObject,
): string | undefined {
  const all = "rules" in levels ? [levels] : levels;
  return lineOf(decideCall(all, { tool, args }));
}
