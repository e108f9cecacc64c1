import type { Role } from "@reeve/contracts/access/role";
import type { ExplainAgentResponse } from "@reeve/contracts/agent";
import { ExplainAgentResponseSchema } from "@reeve/contracts/agent";
import { allRoles, roleName, roleNamed } from "@reeve/platform/rpc/roles";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { jsonLine } from "../../render/json-line.ts";
import { oneLine } from "../../render/plain-text.ts";
import { table } from "../../render/table.ts";

interface ExplainOptions {
  readonly role?: readonly Role[];
  readonly context: "plain" | "thread" | "editor";
  readonly json?: true;
}

/** Shows what an agent may use, and what withholds the rest. */
export function explainCommand(context: Context): Command {
  const command = new Command("explain")
    .description("List what an agent may use, and which rule or other reason withholds the rest.")
    .argument("<agent>", "id of the agent")
    .addOption(
      new Option(
        "--role <role...>",
        "roles of the caller who starts the run (default: those of the token)",
      ).argParser(addRole),
    )
    .addOption(
      new Option("--context <context>", "where the run takes place")
        .choices(["plain", "thread", "editor"])
        .default("plain"),
    )
    .option("--json", "print the explanation as JSON");
  return command.action((agentId: string, { role = [], context: place, json }: ExplainOptions) =>
    withClient(context, command, async (reeve) => {
      const options = { ...context, roles: role, context: place };
      const explained = await reeve.agents.explain(agentId, options);
      if (json === true) {
        context.terminal.out(jsonLine(ExplainAgentResponseSchema, explained));
        return;
      }
      context.terminal.out(table(["KIND", "NAME", "ACCESS", "RULE", "REASON"], rowsOf(explained)));
      for (const line of notesOf(explained)) context.terminal.note(`${line}\n`);
    }),
  );
}

function addRole(name: string, before: readonly Role[] = []): readonly Role[] {
  const role = roleNamed(name);
  if (role !== undefined) return [...before, role];
  throw new InvalidArgumentError(`use one of: ${[...allRoles].map(roleName).join(", ")}.`);
}

function rowsOf({ entries }: ExplainAgentResponse): readonly (readonly string[])[] {
  return entries.map(({ kind, name, allowed, rule, reason }) => [
    kind,
    oneLine(name, 128),
    allowed ? "allowed" : "withheld",
    oneLine(rule, 128),
    oneLine(reason, 500),
  ]);
}

function notesOf({ hasPolicy, rules, policyLimits }: ExplainAgentResponse): readonly string[] {
  if (!hasPolicy) return ["this deployment has no operator's policy"];
  const names = rules.map((rule) => oneLine(rule, 64)).join(", ");
  return [
    `rules that apply: ${names === "" ? "none" : names}`,
    ...policyLimits.map(
      ({ field, max, rule }) =>
        `limit: ${field} is at most ${max}, by the rule ${oneLine(rule, 64)}`,
    ),
  ];
}
