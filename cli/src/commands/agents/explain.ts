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
import { explainedPlan } from "./explained-plan.ts";

interface ExplainOptions {
  readonly role?: readonly Role[];
  readonly as?: string;
  readonly context?: "plain" | "thread" | "editor";
  readonly thread?: string;
  readonly memory?: true;
  readonly json?: true;
}

/** Shows what an agent may use, and what withholds the rest. */
export function explainCommand(context: Context): Command {
  const command = new Command("explain")
    .description(
      "List what an agent may use and what withholds the rest, what admits each tool, and what happens to its calls.",
    )
    .argument("<agent>", "id of the agent")
    .addOption(
      new Option(
        "--role <role...>",
        "roles of the caller who starts the run (default: those of the token)",
      ).argParser(addRole),
    )
    .option(
      "--as <user>",
      "explain for a user, with the roles of the last run that the user started",
    )
    .addOption(
      new Option(
        "--context <context>",
        "where the run takes place (default: plain, or thread with --thread)",
      ).choices(["plain", "thread", "editor"]),
    )
    .option("--thread <thread>", "the thread of the run")
    .option("--memory", "explain runs with long-term memory")
    .option("--json", "print the explanation as JSON");
  return command.action(
    (
      agentId: string,
      { role = [], as: subject = "", context: place, thread, memory, json }: ExplainOptions,
    ) =>
      withClient(context, command, async (reeve) => {
        const options = {
          ...context,
          roles: role,
          ...(place !== undefined && { context: place }),
          ...(thread !== undefined && { threadId: thread }),
          subject,
          memoryEnabled: memory === true,
        };
        const explained = await reeve.agents.explain(agentId, options);
        if (json === true) {
          context.terminal.out(jsonLine(ExplainAgentResponseSchema, explained));
          return;
        }
        context.terminal.out(
          table(["KIND", "NAME", "ACCESS", "RULE", "REASON"], rowsOf(explained)),
        );
        context.terminal.out(explainedPlan(explained));
        for (const line of notesOf(explained)) context.terminal.note(`${line}\n`);
      }),
  );
}

function addRole(name: string, before: readonly Role[] = []): readonly Role[] {
  const role = roleNamed(name);
  if (role !== undefined) return [...before, role];
  throw new InvalidArgumentError(`use one of: ${[...allRoles].map(roleName).join(", ")}.`);
}

function rowsOf({ entries, plan }: ExplainAgentResponse): readonly (readonly string[])[] {
  const excludedBy = new Map(plan?.excludedTools.map((tool) => [tool.name, tool.excludedBy]));
  const ruleOf = (kind: string, name: string) =>
    kind === "tool" ? (excludedBy.get(name) ?? "") : "";
  return entries.map(({ kind, name, allowed, rule, reason }) => [
    kind,
    oneLine(name, 128),
    allowed ? "allowed" : "withheld",
    oneLine(rule === "" ? ruleOf(kind, name) : rule, 128),
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
