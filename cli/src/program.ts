import { Command } from "commander";
import type { Cli } from "./cli.ts";
import { agentsCommand } from "./commands/agents.ts";
import { approvalCommands } from "./commands/approvals.ts";
import { artifactsCommand } from "./commands/artifacts.ts";
import { demoCommand } from "./commands/demo.ts";
import { filesCommand } from "./commands/files.ts";
import { memoriesCommand } from "./commands/memories.ts";
import { provisionCommand } from "./commands/provision.ts";
import { runCommands } from "./commands/runs.ts";
import { threadsCommand } from "./commands/threads.ts";
import { toolsCommand } from "./commands/tools.ts";
import { treeCommand } from "./commands/tree.ts";
import { upCommand } from "./commands/up.ts";
import { exitCodeHelp } from "./exit-code.ts";
import { defaultDataDir, defaultUrl } from "./server-address.ts";

/** The command line. Throws a CommanderError instead of ending the process. */
export function createProgram(cli: Cli): Command {
  const program = new Command("reeve")
    .description("run agents that survive, in sandboxes, with people in charge")
    .version("0.1.0")
    .option("--url <url>", `the server (REEVE_URL; default ${defaultUrl})`)
    .option(
      "--token <token>",
      "the credential (REEVE_TOKEN; default: the token of the data folder)",
    )
    .option(
      "--data-dir <path>",
      `folder of \`reeve up\` (REEVE_DATA_DIR; default ${defaultDataDir})`,
    )
    .addHelpText("after", exitCodeHelp);
  const commands = [
    upCommand(cli),
    demoCommand(cli),
    ...runCommands(cli),
    treeCommand(cli),
    threadsCommand(cli),
    memoriesCommand(cli),
    ...approvalCommands(cli),
    agentsCommand(cli),
    toolsCommand(cli),
    artifactsCommand(cli),
    filesCommand(cli),
    provisionCommand(cli),
  ];
  for (const command of commands) program.addCommand(command);
  for (const command of withSubcommands(program)) speakThrough(cli, command);
  return program;
}

function withSubcommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

function speakThrough({ terminal }: Cli, command: Command): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.out(text),
    writeErr: (text) => terminal.note(text),
  });
}
