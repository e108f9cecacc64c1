import { create } from "@bufbuild/protobuf";
import type { Agent } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import type { AgentSpec } from "@reeve/contracts/agent";
import {
  AgentSchema,
  SpecViolationSchema,
  ValidateAgentResponseSchema,
} from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { mergeViolations } from "@reeve/platform/strict/merge-violations";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { exitCodes } from "../exit-code.ts";
import { formatAgentFile, malformed, openAgentFile } from "../files/agent-file.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/plain-text.ts";
import { table } from "../render/table.ts";
import { explainCommand } from "./agents/explain.ts";
import { previewRuleCommand } from "./agents/preview-rule.ts";
import { diffCommand, revisionsCommand, rollbackCommand } from "./agents/revisions.ts";
import { printList } from "./print-list.ts";

export function agentsCommand(context: Context): Command {
  return new Command("agents")
    .description("Manage agents.")
    .addCommand(applyCommand(context))
    .addCommand(validateCommand(context))
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(revisionsCommand(context))
    .addCommand(diffCommand(context))
    .addCommand(rollbackCommand(context))
    .addCommand(explainCommand(context))
    .addCommand(previewRuleCommand(context))
    .addCommand(deleteCommand(context));
}

function applyCommand(context: Context): Command {
  const command = new Command("apply")
    .description("Create an agent, or replace the agent with the same id.")
    .requiredOption("-f, --file <path>", "agent spec, as YAML or JSON; - reads standard input");
  return command.action(({ file }: { readonly file: string }) =>
    withClient(context, command, async (reeve) => {
      const { spec, violations } = await openAgentFile(file, context.terminal);
      if (violations.length > 0) {
        // The server finds the rest, so that the error lists everything at once.
        const checked = await reeve.agents.validate(spec, context);
        throw await malformed(file, mergeViolations(violations, checked.violations));
      }
      const { agent, action, warnings } = await reeve.agents
        .apply(spec, context)
        .catch(async (error: unknown) => {
          if (!(error instanceof ReeveError) || error.violations.length === 0) throw error;
          throw await malformed(file, error.violations.map(inFile));
        });
      for (const warning of warnings) context.terminal.note(`warning: ${warning}\n`);
      context.terminal.out(`agent ${agent.spec?.id} ${action} (revision ${agent.revision})\n`);
    }),
  );
}

/** The paths of a request begin with the field that holds the file. */
function inFile(violation: Violation): Violation {
  return { ...violation, field: violation.field.replace(/^spec\./, "") };
}

/** `accept` throws if the command is not for the agent. */
export function validateCommand(
  context: Context,
  accept: (spec: AgentSpec) => void = () => {},
): Command {
  const command = new Command("validate")
    .description("Check an agent spec and list everything that is wrong with it. Stores nothing.")
    .requiredOption("-f, --file <path>", "agent spec, as YAML or JSON; - reads standard input")
    .option("--json", "print the result as JSON");
  return command.action(({ file, json }: { readonly file: string; readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const { terminal } = context;
      const { spec, violations } = await openAgentFile(file, context.terminal);
      if (violations.length === 0) accept(spec);
      const checked = await reeve.agents.validate(spec, context);
      const all = mergeViolations(violations, checked.violations);
      const result = {
        ...checked,
        violations: all.map((each) => create(SpecViolationSchema, { ...each })),
      };
      const code = result.violations.length === 0 ? exitCodes.ok : exitCodes.failed;
      if (json === true) {
        terminal.out(jsonLine(ValidateAgentResponseSchema, result));
        return code;
      }
      for (const warning of result.warnings) terminal.note(`warning: ${warning}\n`);
      const rows = result.violations.map(({ field, description, reason }) => [
        oneLine(field, 128),
        oneLine(description, 500),
        oneLine(reason, 64),
      ]);
      terminal.out(
        rows.length === 0 ? `${file} is valid\n` : table(["FIELD", "PROBLEM", "RULE"], rows),
      );
      return code;
    }),
  );
}

function listCommand(context: Context): Command {
  const command = new Command("list")
    .description("List agents.")
    .option("--json", "print one agent per line as JSON");
  const format = {
    header: ["AGENT", "REVISION", "BY", "MODEL", "NAME"],
    row: rowOf,
    empty: "no agents",
  };
  return command.action(({ json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const agents = reeve.agents.list(context);
      await printList(context.terminal, AgentSchema, agents, format, json === true);
    }),
  );
}

/** `accept` throws if the command is not for the agent. */
export function getCommand(
  context: Context,
  accept: (spec: AgentSpec) => void = () => {},
): Command {
  const command = new Command("get")
    .description("Print the spec of an agent as YAML.")
    .argument("<agent>", "id of the agent")
    .option("--json", "print the agent as JSON");
  return command.action((agentId: string, { json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const agent = await reeve.agents.get(agentId, context);
      if (agent.spec === undefined) return;
      accept(agent.spec);
      const text = json === true ? jsonLine(AgentSchema, agent) : await formatAgentFile(agent.spec);
      context.terminal.out(text);
    }),
  );
}

function deleteCommand(context: Context): Command {
  const command = new Command("delete")
    .description("Delete an agent. Its runs continue.")
    .argument("<agent>", "id of the agent");
  return command.action((agentId: string) =>
    withClient(context, command, async (reeve) => {
      await reeve.agents.delete(agentId, context);
      context.terminal.out(`agent ${agentId} deleted\n`);
    }),
  );
}

function rowOf({ spec, revision, createdBy }: Agent): readonly string[] {
  return [
    oneLine(spec?.id ?? "", 63),
    String(revision),
    oneLine(createdBy, 40),
    oneLine(spec?.model ?? "", 60),
    oneLine(spec?.name ?? "", 60),
  ];
}
