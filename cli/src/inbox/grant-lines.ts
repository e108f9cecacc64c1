import type { JsonObject } from "@bufbuild/protobuf";
import { freedomOf } from "@reeve/agent/permission/rule-freedom";
import type { PermissionClass, ToolCall } from "@reeve/contracts/tool";
import { oneLine } from "../render/plain-text.ts";
import { shownExactly } from "@reeve/contracts/content/shown-exactly";
import type { ScreenLine } from "./screen-line.ts";

/** What is shown of a tool that the deployment lists. */
export interface KnownTool {
  readonly permissionClass: PermissionClass;
  readonly inputSchema?: JsonObject | undefined;
}

/** Returns what a person agrees to with a grant: its whole rule, as it is typed, and what the rule leaves free. */
export function grantLines(
  rule: string,
  call: Pick<ToolCall, "arguments"> | undefined,
  tool: KnownTool | undefined,
): readonly ScreenLine[] {
  return [
    {
      text: "a grant: approves this call, and for an hour up to 10 of this run that match the rule",
    },
    { text: `  ${shownExactly(rule.trim())}`, look: "yellow" },
    { text: `  ${freedom(rule.trim(), call?.arguments ?? {}, tool?.inputSchema)}`, look: "bold" },
  ];
}

function freedom(rule: string, args: JsonObject, inputSchema: JsonObject | undefined): string {
  const freedom = freedomOf(rule, args, inputSchema);
  switch (freedom.kind) {
    case "unreadable":
      return `the rule ${oneLine(freedom.problem, 400)}`;
    case "all":
      return "it matches all calls of the tool, with any arguments";
    case "all but primary":
      return `it leaves free: all arguments except the primary one${freedom.isExact ? "" : ", and that one in part"}`;
    case "some": {
      const free = freedom.names.map((name) => oneLine(name, 64));
      free.push(...freedom.inPart.map((name) => `${oneLine(name, 64)} in part`));
      if (freedom.hasOthers) free.push("any argument that the call leaves out");
      return free.length === 0
        ? "it leaves no argument free"
        : `it leaves free: ${free.join(", ")}`;
    }
  }
}
