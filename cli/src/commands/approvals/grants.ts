import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Grant } from "@reeve/contracts/approval";
import { GrantSchema, GrantScopeSchema } from "@reeve/contracts/approval";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { oneLine } from "../../render/plain-text.ts";
import { shownExactly } from "@reeve/contracts/content/shown-exactly";
import { printList } from "../print-list.ts";

/** Lists and revokes the decisions of people about further calls. */
export function grantsCommand(context: Context): Command {
  return new Command("grants")
    .description("List and revoke approvals of further calls.")
    .addCommand(listCommand(context), { isDefault: true })
    .addCommand(revokeCommand(context));
}

function listCommand(context: Context): Command {
  const command = new Command("list")
    .description("List the grants that have not expired.")
    .option("--agent <id>", "only grants about calls of this agent")
    .option("--run <id>", "only grants that were made in this run")
    .option("--json", "print one grant per line as JSON");
  interface Options {
    readonly agent?: string;
    readonly run?: string;
    readonly json?: true;
  }
  const format = {
    header: ["GRANT", "STATE", "SCOPE", "AGENT", "BY", "USES", "EXPIRES", "RULE"],
    row: rowOf,
    empty: "no grants",
  };
  return command.action(({ agent: agentId = "", run: runId = "", json }: Options) =>
    withClient(context, command, async (reeve) => {
      const grants = reeve.listGrants({ agentId, runId, signal: context.signal });
      await printList(context.terminal, GrantSchema, grants, format, json === true);
    }),
  );
}

function revokeCommand(context: Context): Command {
  const command = new Command("revoke")
    .description("Revoke a grant: it approves no further call.")
    .argument("<grant>", "id of the grant");
  return command.action((grantId: string) =>
    withClient(context, command, async (reeve) => {
      const { uses, maxUses } = await reeve.revokeGrant(grantId, context);
      context.terminal.out(`${grantId} revoked after ${uses.length} of ${maxUses} uses\n`);
    }),
  );
}

/** Says what a grant approves, in one line. */
export function renderGrant(grant: Grant): string {
  const [grantId, , scope, , , , expires, rule] = rowOf(grant);
  return `${grantId} approves ${rule} in this ${scope}, ${grant.maxUses} times until ${expires}`;
}

function rowOf({
  grantId,
  scope,
  rule,
  agentId,
  agentRevision,
  grantedBy,
  ...grant
}: Grant): readonly string[] {
  const { expiresAt, maxUses, uses, revokedBy } = grant;
  const isUsedUp = uses.length >= maxUses;
  const state = revokedBy !== "" ? `revoked by ${revokedBy}` : isUsedUp ? "used up" : "valid";
  const expires = expiresAt === undefined ? "" : timestampDate(expiresAt).toISOString();
  const scopeName = GrantScopeSchema.value[scope]?.localName.toLowerCase() ?? "unknown";
  const agent = `${agentId}@${agentRevision}`;
  const cells = [grantId, state, scopeName, agent, grantedBy, `${uses.length}/${maxUses}`, expires];
  return [...cells.map((cell) => oneLine(cell, 256)), shownExactly(rule)];
}
