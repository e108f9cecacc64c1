import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { Command, InvalidArgumentError } from "commander";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalStateSchema } from "@reeve/contracts/approval";
import { allPages } from "../all-pages.ts";
import { brief, persistently } from "../back-off.ts";
import type { Cli } from "../cli.ts";
import { withReeve } from "../cli.ts";
import type { Reeve } from "../client.ts";
import { jsonLine } from "../json-line.ts";
import { renderApproval } from "../render/approval-lines.ts";
import { oneLine } from "../render/plain-text.ts";
import { table } from "../render/table.ts";
import { shortArguments } from "../render/tool-lines.ts";

/** The commands by which people decide. */
export function approvalCommands(cli: Cli): readonly Command[] {
  return [listCommand(cli), decideCommand(cli, "approve"), decideCommand(cli, "reject")];
}

function listCommand(cli: Cli): Command {
  const command = new Command("approvals")
    .description("list what waits for a decision")
    .option("--run <id>", "only of this run", "")
    .option("--all", "decided ones too")
    .option("--watch", "go on and show approvals as they come")
    .option("--json", "one approval a line, as JSON");
  interface Options {
    readonly run: string;
    readonly all?: true;
    readonly watch?: true;
    readonly json?: true;
  }
  return command.action(({ run: runId, all, watch, json }: Options) =>
    withReeve(cli, command, async (reeve) => {
      const { terminal, signal } = cli;
      if (watch === true) {
        await watchApprovals(cli, reeve, { runId, json: json === true });
        return;
      }
      const pages = allPages(async (pageToken) => {
        const request = { runId, includeClosed: all === true, pageToken, pageSize: 1_000 };
        const page = await reeve.approvals.listApprovals(request, { signal });
        return { items: page.approvals, nextPageToken: page.nextPageToken };
      });
      const approvals = await Array.fromAsync(pages);
      if (json === true) for (const each of approvals) terminal.out(jsonLine(ApprovalSchema, each));
      else if (approvals.length === 0) terminal.note("nothing waits for approval\n");
      else {
        const head = ["APPROVAL", "STATE", "TOOL", "AGENT", "ARGUMENTS"];
        terminal.out(table(head, approvals.map(rowOf)));
      }
    }),
  );
}

async function watchApprovals(
  { terminal, signal }: Cli,
  reeve: Reeve,
  { runId, json }: { readonly runId: string; readonly json: boolean },
): Promise<void> {
  const stream = reeve.approvals.watchApprovals({ runId }, { signal });
  for await (const { approvals } of stream) {
    for (const approval of approvals) {
      const lines = renderApproval(approval, terminal.colours, terminal.columns);
      terminal.out(json ? jsonLine(ApprovalSchema, approval) : `${lines.join("\n")}\n`);
    }
  }
}

function decideCommand(cli: Cli, verb: "approve" | "reject"): Command {
  const command = new Command(verb)
    .description(verb === "approve" ? "let a call run" : "refuse a call; the run goes on")
    .argument("<approval>", "id of the approval")
    .option("--reason <text>", "why; told to the model when the call is rejected", "");
  if (verb === "approve") {
    command.option("--answer <json>", "the answer to a tool that asks", parseAnswer);
  }
  interface Options {
    readonly reason: string;
    readonly answer?: JsonObject;
  }
  return command.action((approvalId: string, { reason, answer }: Options) =>
    withReeve(cli, command, async (reeve) => {
      const approved = verb === "approve";
      // One id for all attempts: an answer that was lost does not make a second decision.
      const given = { approvalId, approved, reason, decisionId: randomUUID() };
      const request = { ...given, ...(answer && { answer }) };
      const decide = () => reeve.approvals.decideApproval(request, { signal: cli.signal });
      await persistently(decide, brief, cli.signal);
      cli.terminal.out(`${approvalId} ${approved ? "approved" : "rejected"}\n`);
    }),
  );
}

function parseAnswer(text: string): JsonObject {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer === "object" && answer !== null && !Array.isArray(answer)) {
      // JSON holds nothing else.
      return answer as JsonObject;
    }
  } catch {
    // Told below, as what is no object.
  }
  throw new InvalidArgumentError("it is no JSON object.");
}

function rowOf({ approvalId, state, call, agentId, question }: Approval): readonly string[] {
  const standing = ApprovalStateSchema.value[state]?.localName.toLowerCase() ?? "unknown";
  const given = question ? `asks: ${question.message}` : shortArguments(call?.arguments ?? {});
  return [approvalId, standing, call?.name ?? "", agentId, given].map((cell) => oneLine(cell, 256));
}
