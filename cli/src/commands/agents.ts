import { Command } from "commander";
import { AgentSchema, ValidateAgentResponseSchema } from "@reeve/contracts/agent";
import { allPages } from "../all-pages.ts";
import { applyAgent, printSpec, readSpec } from "../apply-agent.ts";
import type { Cli } from "../cli.ts";
import { withReeve } from "../cli.ts";
import { exitCodes } from "../exit-code.ts";
import { jsonLine } from "../json-line.ts";
import { oneLine } from "../render/plain-text.ts";
import { table } from "../render/table.ts";

/** The commands that keep agents. */
export function agentsCommand(cli: Cli): Command {
  return new Command("agents")
    .description("keep agents")
    .addCommand(applyCommand(cli))
    .addCommand(validateCommand(cli))
    .addCommand(listCommand(cli))
    .addCommand(getCommand(cli))
    .addCommand(deleteCommand(cli));
}

function applyCommand(cli: Cli): Command {
  const command = new Command("apply")
    .description("store an agent: create it, or replace the one of the same id")
    .requiredOption("-f, --file <path>", "its spec, as YAML or JSON");
  return command.action(({ file }: { readonly file: string }) =>
    withReeve(cli, command, async (reeve) => {
      const { agentId, revision, did, warnings } = await applyAgent(
        reeve,
        await readSpec(file),
        cli.signal,
      );
      for (const warning of warnings) cli.terminal.note(`warning: ${warning}\n`);
      cli.terminal.out(`agent ${agentId} ${did} (revision ${revision})\n`);
    }),
  );
}

function validateCommand(cli: Cli): Command {
  const command = new Command("validate")
    .description("say everything that is wrong with a spec, and store nothing")
    .requiredOption("-f, --file <path>", "the spec, as YAML or JSON")
    .option("--json", "as JSON");
  return command.action(({ file, json }: { readonly file: string; readonly json?: true }) =>
    withReeve(cli, command, async (reeve) => {
      const spec = await readSpec(file);
      const answer = await reeve.agents.validateAgent({ spec }, { signal: cli.signal });
      const code = answer.violations.length === 0 ? exitCodes.ok : exitCodes.failed;
      if (json === true) {
        cli.terminal.out(jsonLine(ValidateAgentResponseSchema, answer));
        return code;
      }
      for (const warning of answer.warnings) cli.terminal.note(`warning: ${warning}\n`);
      const rows = answer.violations.map(({ field, description, reason }) => [
        oneLine(field, 128),
        oneLine(description, 500),
        oneLine(reason, 64),
      ]);
      cli.terminal.out(
        rows.length === 0 ? `${file} is valid\n` : table(["FIELD", "PROBLEM", "RULE"], rows),
      );
      return code;
    }),
  );
}

function listCommand(cli: Cli): Command {
  const command = new Command("list")
    .description("list agents")
    .option("--json", "one agent a line, as JSON");
  return command.action(({ json }: { readonly json?: true }) =>
    withReeve(cli, command, async (reeve) => {
      const pages = allPages(async (pageToken) => {
        const request = { pageToken, pageSize: 1_000 };
        const page = await reeve.agents.listAgents(request, { signal: cli.signal });
        return { items: page.agents, nextPageToken: page.nextPageToken };
      });
      const agents = await Array.fromAsync(pages);
      if (json === true) for (const each of agents) cli.terminal.out(jsonLine(AgentSchema, each));
      else if (agents.length === 0) cli.terminal.note("no agents\n");
      else {
        const rows = agents.map(({ spec, revision }) => [
          oneLine(spec?.id ?? "", 63),
          String(revision),
          oneLine(spec?.model ?? "", 60),
          oneLine(spec?.name ?? "", 60),
        ]);
        cli.terminal.out(table(["AGENT", "REVISION", "MODEL", "NAME"], rows));
      }
    }),
  );
}

function getCommand(cli: Cli): Command {
  const command = new Command("get")
    .description("print an agent's spec as a file")
    .argument("<agent>", "id of the agent")
    .option("--json", "the agent as JSON");
  return command.action((agentId: string, { json }: { readonly json?: true }) =>
    withReeve(cli, command, async (reeve) => {
      const { agent } = await reeve.agents.getAgent({ agentId }, { signal: cli.signal });
      if (agent?.spec === undefined) return;
      const text = json === true ? jsonLine(AgentSchema, agent) : await printSpec(agent.spec);
      cli.terminal.out(text);
    }),
  );
}

function deleteCommand(cli: Cli): Command {
  const command = new Command("delete")
    .description("remove an agent; its runs go on")
    .argument("<agent>", "id of the agent");
  return command.action((agentId: string) =>
    withReeve(cli, command, async (reeve) => {
      await reeve.agents.deleteAgent({ agentId }, { signal: cli.signal });
      cli.terminal.out(`agent ${agentId} deleted\n`);
    }),
  );
}
