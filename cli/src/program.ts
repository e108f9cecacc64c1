import { Command } from "commander";
import { agentsCommand } from "./commands/agents.ts";
import { applyCommand } from "./commands/apply/apply.ts";
import { approvalCommands } from "./commands/approvals.ts";
import { artifactsCommand } from "./commands/artifacts.ts";
import { auditCommand } from "./commands/operate/audit.ts";
import { completionCommand } from "./commands/completion.ts";
import { demoCommand } from "./commands/demo.ts";
import { exportCommand } from "./commands/receipts/export-log.ts";
import { filesCommand } from "./commands/files.ts";
import { initCommand } from "./commands/init.ts";
import { knowledgeCommand } from "./commands/knowledge/knowledge.ts";
import { memoriesCommand } from "./commands/memories.ts";
import { modelsCommand } from "./commands/models/models.ts";
import { natsAccountsCommand } from "./commands/operate/nats-accounts.ts";
import { notificationsCommand } from "./commands/operate/notifications.ts";
import { passkeysCommand } from "./commands/operate/passkeys.ts";
import { provisionCommand } from "./commands/provision.ts";
import { receiptCommands } from "./commands/receipts/receipt.ts";
import { rebuildCommand } from "./commands/rebuild.ts";
import { runCommands } from "./commands/runs.ts";
import { schemaCommand } from "./commands/schema/schema.ts";
import { sendCommand } from "./commands/send.ts";
import { skillsCommand } from "./commands/skills/skills.ts";
import { threadsCommand } from "./commands/threads.ts";
import { tenantsCommand } from "./commands/operate/tenants.ts";
import { tokensCommand } from "./commands/operate/tokens.ts";
import { statusCommand } from "./commands/operate/status.ts";
import { toolsCommand } from "./commands/tools.ts";
import { triggersCommand } from "./commands/triggers/triggers.ts";
import { evalCommand } from "./commands/evals/eval.ts";
import { upCommand } from "./commands/up.ts";
import { verifyCommand } from "./commands/verify.ts";
import { workflowsCommand } from "./commands/agents/workflows.ts";
import type { Context } from "./context.ts";
import { exitCodeHelp } from "./exit-code.ts";
import { signInCommands } from "./sign-in/sign-in-commands.ts";
import { defaultDataDir, defaultUrl } from "./server-address.ts";

/** Returns the command line. It throws a CommanderError instead of ending the process. */
export function createProgram(context: Context): Command {
  const program = new Command("reeve")
    .description("Run LLM agents that survive crashes, in sandboxes, with human approval.")
    .version("0.1.0")
    .option("--url <url>", `server address (REEVE_URL; default ${defaultUrl})`)
    .option(
      "--token <token>",
      "access token (REEVE_TOKEN; default: that of `reeve login` for the server, or the one in the data folder for its server)",
    )
    .option(
      "--data-dir <path>",
      `data folder of \`reeve up\` (REEVE_DATA_DIR; default ${defaultDataDir})`,
    )
    .option(
      "--ca-file <path>",
      "authorities to trust for https, as PEM (REEVE_CA_FILE; default: the public ones and those in NODE_EXTRA_CA_CERTS)",
    )
    .option(
      "--cert-file <path>",
      "certificate of this client, as PEM, for servers that accept it instead of a token (REEVE_CERT_FILE)",
    )
    .option("--key-file <path>", "key of the certificate, as PEM (REEVE_KEY_FILE)")
    .addHelpText("after", exitCodeHelp);
  const commands = [
    upCommand(context),
    demoCommand(context),
    initCommand(context),
    ...runCommands(context),
    sendCommand(context),
    verifyCommand(context),
    exportCommand(context),
    threadsCommand(context),
    knowledgeCommand(context),
    memoriesCommand(context),
    ...approvalCommands(context),
    ...receiptCommands(context),
    applyCommand(context),
    agentsCommand(context),
    workflowsCommand(context),
    triggersCommand(context),
    evalCommand(context),
    toolsCommand(context),
    modelsCommand(context),
    skillsCommand(context),
    artifactsCommand(context),
    filesCommand(context),
    ...signInCommands(context),
    statusCommand(context),
    auditCommand(context),
    notificationsCommand(context),
    passkeysCommand(context),
    tokensCommand(context),
    tenantsCommand(context),
    natsAccountsCommand(context),
    provisionCommand(context),
    rebuildCommand(context),
    schemaCommand(context),
    completionCommand(context),
  ];
  for (const command of commands) program.addCommand(command);
  for (const command of withSubcommands(program)) configure(context, command);
  return program;
}

function withSubcommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

function configure({ terminal }: Context, command: Command): void {
  command
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.note(text),
    })
    .configureHelp({ subcommandDescription: (subcommand) => firstSentence(subcommand) });
}

/** Returns the first sentence of a description, without the period, for lists of commands. */
function firstSentence(command: Command): string {
  return command.description().split(/\.(?:\s|$)/, 1)[0] ?? "";
}
