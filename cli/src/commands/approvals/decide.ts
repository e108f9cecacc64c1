import type { JsonObject } from "@bufbuild/protobuf";
import type { Client } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { ApprovalState } from "@reeve/contracts/approval";
import { Command, InvalidArgumentError } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { UsageError } from "../../exit-code.ts";
import { renderProgress } from "../../render/approvals/approval-progress.ts";
import { oneLine } from "../../render/plain-text.ts";
import { parseObject } from "../parse-option.ts";
import { decideSeveral } from "./decide-several.ts";
import type { GrantOptions } from "./grant-options.ts";
import { addGrantOptions, grantOf } from "./grant-options.ts";
import { renderGrant } from "./grants.ts";

/** Approves or rejects a call. An approval may be about further calls too. */
export function decideCommand(context: Context, verb: "approve" | "reject"): Command {
  const command = new Command(verb)
    .description(
      verb === "approve" ? "Approve tool calls." : "Reject tool calls. Their runs continue.",
    )
    .argument("<approvals...>", "ids of the approvals")
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
    addGrantOptions(command);
    command.option(
      "--break-glass",
      "approve alone and at once, in an emergency; needs --reason, and is reported",
    );
  }
  interface Options extends GrantOptions {
    readonly reason?: string;
    readonly args?: JsonObject;
    readonly answer?: JsonObject;
    readonly digest?: string;
    readonly breakGlass?: true;
  }
  return command.action((approvalIds: readonly [string, ...string[]], options: Options) =>
    withClient(context, command, async (reeve) => {
      const { reason = "", args, answer, digest = "", breakGlass = false } = options;
      if (breakGlass && reason.trim() === "") throw new UsageError("--break-glass needs --reason");
      const approved = verb === "approve";
      const [approvalId] = approvalIds;
      if (approvalIds.length > 1) {
        if (Object.keys(options).some((name) => name !== "reason"))
          throw new UsageError(onlyReason);
        return await decideSeveral(context, reeve, approvalIds, { approved, reason });
      }
      const grant = await grantOf(options, reeve, approvalId, context.signal);
      const decision = {
        approvalId,
        approved,
        reason,
        callDigest: digest,
        breakGlass,
        ...(args && { editedArguments: args }),
        ...(answer && { answer }),
        ...(grant && { grant }),
      };
      const approval = await reeve.decide(decision, context).catch(async (error: unknown) => {
        const waiting = await approvalsOf(reeve, approvalId, error, context.signal);
        if (waiting.length === 0) throw error;
        const commands = waiting.map((id) => `${context.reeve} ${verb} ${id}`).join(", or ");
        throw new UsageError(`${approvalId} is a run; decide what it waits for: ${commands}`);
      });
      const [verbed, missing] = approved ? ["approved", "approval"] : ["rejected", "rejection"];
      if (approval.state !== ApprovalState.PENDING) {
        const how = approval.decision?.breakGlass === undefined ? "" : " by break-glass";
        context.terminal.out(`${approvalId} ${verbed}${how}\n`);
        const made = approval.decision?.grant;
        if (made !== undefined) context.terminal.out(`${renderGrant(made)}\n`);
        else if (grant !== undefined) context.terminal.note(notGranted);
        return;
      }
      const lines = renderProgress(approval).map((line) => `  ${oneLine(line, 512)}\n`);
      context.terminal.out(
        `${approvalId} has your ${missing}, and waits for others\n${lines.join("")}`,
      );
    }),
  );
}

const onlyReason = "several approvals are decided alike: with --reason, and no other option";

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

/** The server has a version that knows no grants, or the decision is a repetition of an earlier one. */
const notGranted =
  "no grant was made: the call was approved before, or the service approvals is of an earlier version\n";
