import type { JsonObject } from "@bufbuild/protobuf";
import type { Approval, Client } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { ApprovalSchema, ApprovalState, ApprovalStateSchema } from "@reeve/contracts/approval";
import { Command, InvalidArgumentError } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { OpenDecisions } from "../decisions/open-decisions.ts";
import { UsageError } from "../exit-code.ts";
import { renderProgress } from "../render/approvals/approval-progress.ts";
import { renderApproval } from "../render/approvals/approval.ts";
import { parseJsonObject } from "../parse-json-object.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/plain-text.ts";
import { shortArguments } from "../render/tool.ts";
import { printList } from "./print-list.ts";

export function approvalCommands(context: Context): readonly Command[] {
  return [
    listCommand(context),
    decideCommand(context, "approve"),
    decideCommand(context, "reject"),
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

function decideCommand(context: Context, verb: "approve" | "reject"): Command {
  const command = new Command(verb)
    .description(
      verb === "approve" ? "Approve a tool call." : "Reject a tool call. The run continues.",
    )
    .argument("<approval>", "id of the approval")
    .option(
      "--reason <text>",
      verb === "approve"
        ? "reason for the approval"
        : "reason for the rejection, which the model sees",
    );
  command.option(
    "--digest <digest>",
    "call digest of the approval; refused if it has another one",
    parseDigest,
  );
  if (verb === "approve") {
    command.option(
      "--args <json>",
      "arguments that replace those of the model, as JSON",
      parseObject,
    );
    command.option("--answer <json>", "answer to the question of a tool, as JSON", parseObject);
  }
  interface Options {
    readonly reason?: string;
    readonly args?: JsonObject;
    readonly answer?: JsonObject;
    readonly digest?: string;
  }
  return command.action((approvalId: string, { reason = "", args, answer, digest = "" }: Options) =>
    withClient(context, command, async (reeve) => {
      const approved = verb === "approve";
      const decision = {
        approvalId,
        approved,
        reason,
        callDigest: digest,
        ...(args && { editedArguments: args }),
        ...(answer && { answer }),
      };
      const approval = await reeve.decide(decision, context).catch(async (error: unknown) => {
        const waiting = await approvalsOf(reeve, approvalId, error, context.signal);
        if (waiting.length === 0) throw error;
        const commands = waiting.map((id) => `${context.reeve} ${verb} ${id}`).join(", or ");
        throw new UsageError(`${approvalId} is a run; decide what it waits for: ${commands}`);
      });
      const [verbed, missing] = approved ? ["approved", "approval"] : ["rejected", "rejection"];
      if (approval.state !== ApprovalState.PENDING) {
        context.terminal.out(`${approvalId} ${verbed}\n`);
        return;
      }
      const lines = renderProgress(approval).map((line) => `  ${oneLine(line, 512)}\n`);
      context.terminal.out(
        `${approvalId} has your ${missing}, and waits for others\n${lines.join("")}`,
      );
    }),
  );
}

/** Returns the ids of the approvals for which a run waits, if `id` is a run and no approval. */
async function approvalsOf(
  reeve: Client,
  id: string,
  error: unknown,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const isUnknown = error instanceof ReeveError && error.reason === "APPROVAL_NOT_FOUND";
  if (!isUnknown || !id.startsWith("run_")) return [];
  const pending = await Array.fromAsync(reeve.listApprovals({ runId: id, signal }));
  return pending.map(({ approvalId }) => oneLine(approvalId, 256));
}

function parseDigest(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError(
    "Use the 64 hex digits that `approvals --json` shows as callDigest.",
  );
}

function parseObject(text: string): JsonObject {
  const object = parseJsonObject(text);
  if (object !== undefined) return object;
  throw new InvalidArgumentError('Use a JSON object, for example {"dish":"soup"}.');
}

function rowOf({ approvalId, state, call, agentId, question }: Approval): readonly string[] {
  const stateName = ApprovalStateSchema.value[state]?.localName.toLowerCase() ?? "unknown";
  const args = question ? `asks: ${question.message}` : shortArguments(call?.arguments ?? {});
  return [approvalId, stateName, call?.name ?? "", agentId, args].map((cell) => oneLine(cell, 256));
}
