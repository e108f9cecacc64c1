import type { Approval, Client } from "@reeve/client";
import { ApprovalSchema, ApprovalStateSchema } from "@reeve/contracts/approval";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { OpenDecisions } from "../decisions/open-decisions.ts";
import { renderApproval } from "../render/approvals/approval.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/plain-text.ts";
import { shortArguments } from "../render/tool.ts";
import { answerCommand } from "./approvals/answer.ts";
import { decideCommand } from "./approvals/decide.ts";
import { grantsCommand } from "./approvals/grants.ts";
import { printList } from "./print-list.ts";

export function approvalCommands(context: Context): readonly Command[] {
  return [
    listCommand(context),
    decideCommand(context, "approve"),
    decideCommand(context, "reject"),
    answerCommand(context),
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
  interface Options {
    readonly run?: string;
    readonly all?: true;
    readonly watch?: true;
    readonly json?: true;
  }
  const format = {
    header: ["APPROVAL", "STATE", "TOOL", "AGENT", "ARGUMENTS"],
    row: rowOf,
    empty: "no pending approvals",
  };
  return command.action(({ run: runId = "", all, watch, json }: Options) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      if (watch === true) {
        await watchApprovals(context, reeve, { runId, json: json === true });
        return;
      }
      const approvals = reeve.listApprovals({ runId, includeClosed: all === true, signal });
      await printList(terminal, ApprovalSchema, approvals, format, json === true);
    }),
  );
}

async function watchApprovals(
  context: Context,
  reeve: Client,
  { runId, json }: { readonly runId: string; readonly json: boolean },
): Promise<void> {
  const { terminal, signal, reeve: command } = context;
  const asks = terminal.isInteractive && !json;
  await using decisions = asks ? new OpenDecisions(context, reeve, "ask") : undefined;
  for await (const approval of reeve.watchApprovals({ runId, signal })) {
    const lines = renderApproval(approval, { ...terminal, reeve: command });
    terminal.out(json ? jsonLine(ApprovalSchema, approval) : `${lines.join("\n")}\n`);
    await decisions?.update(approval);
  }
}

function rowOf({ approvalId, state, call, agentId, question }: Approval): readonly string[] {
  const stateName = ApprovalStateSchema.value[state]?.localName.toLowerCase() ?? "unknown";
  const args = question ? `asks: ${question.message}` : shortArguments(call?.arguments ?? {});
  return [approvalId, stateName, call?.name ?? "", agentId, args].map((cell) => oneLine(cell, 256));
}
