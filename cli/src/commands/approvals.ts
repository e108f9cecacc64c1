import type { Approval, Client, ReeveError } from "@reeve/client";
import { ApprovalSchema, ApprovalStateSchema } from "@reeve/contracts/approval";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { OpenDecisions } from "../decisions/open-decisions.ts";
import { renderApproval } from "../render/approvals/approval.ts";
import { runInbox } from "../inbox/run-inbox.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/plain-text.ts";
import { skim } from "../render/approvals/skim.ts";
import { answerCommand } from "./approvals/answer.ts";
import { decideCommand } from "./approvals/decide.ts";
import type { FilterOptions } from "./approvals/filter-options.ts";
import { addFilterOptions, filterOf } from "./approvals/filter-options.ts";
import { grantsCommand } from "./approvals/grants.ts";
import { assignCommand, commentCommand } from "./approvals/note.ts";
import { printCounts } from "./approvals/print-counts.ts";
import { printList } from "./print-list.ts";
import { agentOf } from "../render/approvals/agent-of.ts";

export function approvalCommands(context: Context): readonly Command[] {
  return [
    listCommand(context),
    inboxCommand(context),
    decideCommand(context, "approve"),
    decideCommand(context, "reject"),
    answerCommand(context),
    commentCommand(context),
    assignCommand(context),
    grantsCommand(context),
  ];
}

function listCommand(context: Context): Command {
  const command = new Command("approvals")
    .description("List tool calls that are waiting for approval.")
    .option("--run <id>", "only approvals of this run")
    .option("--all", "include approvals that have been decided")
    .option("--watch", "keep printing approvals as they arrive, and on a terminal ask about each")
    .option("--json", "print one approval per line as JSON");
  addFilterOptions(command);
  interface Options extends ListOptions {
    readonly watch?: true;
  }
  return command.action((options: Options) =>
    withClient(context, command, async (reeve) => {
      if (options.watch === true) await watchApprovals(context, reeve, options);
      else await listApprovals(context, reeve, options);
    }),
  );
}

function inboxCommand(context: Context): Command {
  const command = new Command("inbox")
    .description(
      "Show the approvals that wait for people, and decide them.\n\n" +
        "On a terminal, the inbox takes the whole screen; q quits. Otherwise, and with --json or --list, it is a list.",
    )
    .option("--run <id>", "only approvals of this run")
    .option("--all", "include approvals that have been decided")
    .option("--counts", "count approvals by state, and those that wait by agent and tool")
    .option("--list", "print a list on a terminal, too")
    .option("--json", "print one approval per line, or the counts, as JSON");
  addFilterOptions(command);
  interface Options extends ListOptions {
    readonly counts?: true;
    readonly list?: true;
  }
  return command.action((options: Options) =>
    withClient(context, command, async (reeve) => {
      const { counts, list, all, json, state, run: runId = "" } = options;
      if (counts === true) return await printCounts(context, reeve, json === true);
      // The screen is for deciding: what has been decided is a list.
      const isList = [list, all, json, state].some((option) => option !== undefined);
      if (isList || !context.terminal.isInteractive) {
        return await listApprovals(context, reeve, options);
      }
      await runInbox(context, reeve, { runId, filter: filterOf(options) });
    }),
  );
}

interface ListOptions extends FilterOptions {
  readonly run?: string;
  readonly all?: true;
  readonly json?: true;
}

async function listApprovals(
  { terminal, signal }: Context,
  reeve: Client,
  options: ListOptions,
): Promise<void> {
  let isShortened = false;
  const format = {
    header: ["APPROVAL", "STATE", "TOOL", "AGENT", "ARGUMENTS"],
    row: (approval: Approval) => {
      const { cells, ...skimmed } = rowOf(approval);
      isShortened ||= skimmed.isShortened;
      return cells;
    },
    empty: "no pending approvals",
  };
  const { run: runId = "", all, json } = options;
  const filter = filterOf(options);
  const approvals = reeve.listApprovals({ runId, includeClosed: all === true, filter, signal });
  await printList(terminal, ApprovalSchema, approvals, format, json === true);
  if (isShortened) terminal.note("with --json, nothing is shortened\n");
}

async function watchApprovals(
  context: Context,
  reeve: Client,
  options: ListOptions,
): Promise<void> {
  const { terminal, signal, reeve: command } = context;
  const json = options.json === true;
  const asks = terminal.isInteractive && !json;
  await using decisions = asks ? new OpenDecisions(context, reeve, "ask") : undefined;
  const watched = {
    runId: options.run ?? "",
    filter: filterOf(options),
    signal,
    onConnectionLost: ({ message }: ReeveError) =>
      terminal.note(`connection lost: ${message}; reconnecting …\n`),
  };
  for await (const approval of reeve.watchApprovals(watched)) {
    const lines = renderApproval(approval, { ...terminal, reeve: command });
    terminal.out(json ? jsonLine(ApprovalSchema, approval) : `${lines.join("\n")}\n`);
    await decisions?.update(approval);
  }
}

function rowOf(approval: Approval) {
  const { approvalId, state, call } = approval;
  const stateName = ApprovalStateSchema.value[state]?.localName.toLowerCase() ?? "unknown";
  const { text, isShortened } = skim(approval, maxCell);
  const names = [approvalId, stateName, call?.name ?? "", agentOf(approval)];
  return { cells: [...names.map((cell) => oneLine(cell, maxCell)), text], isShortened };
}

const maxCell = 256;
