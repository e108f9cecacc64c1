import type { MessageInitShape } from "@bufbuild/protobuf";
import { exactRule } from "@reeve/agent/permission/exact-rule";
import type { Client } from "@reeve/client";
import type { GrantRequestSchema } from "@reeve/contracts/approval";
import { GrantScope } from "@reeve/contracts/approval";
import type { Command } from "commander";
import { Option } from "commander";
import { UsageError } from "../../exit-code.ts";
import { oneLine } from "../../render/plain-text.ts";
import { parseLimit, parseSeconds } from "../parse-option.ts";

const scopes = {
  run: GrantScope.RUN,
  thread: GrantScope.THREAD,
  agent: GrantScope.AGENT,
} as const;

/** The options of an approval that is about further calls. */
export interface GrantOptions {
  readonly scope?: keyof typeof scopes;
  readonly rule?: string;
  readonly uses?: number;
  readonly for?: bigint;
}

export function addGrantOptions(command: Command): void {
  command.addOption(
    new Option("--scope <scope>", "approve further calls of the run, thread, or agent too").choices(
      Object.keys(scopes),
    ),
  );
  command.option("--rule <rule>", "with --scope: which calls; without it, the exact rule is shown");
  command.option("--uses <n>", "with --scope: how many calls; default: 10", parseLimit);
  command.option(
    "--for <duration>",
    "with --scope: how long, as 30m or 7d; default: 1h",
    parseSeconds,
  );
}

/** Returns the grant that the options ask for, if any. Throws a UsageError with the exact rule of the call if they name no rule. */
export async function grantOf(
  { scope, rule, uses, for: seconds }: GrantOptions,
  reeve: Pick<Client, "listApprovals">,
  approvalId: string,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof GrantRequestSchema> | undefined> {
  if (scope === undefined) {
    if (rule === undefined && uses === undefined && seconds === undefined) return undefined;
    throw new UsageError("--rule, --uses, and --for need --scope run, thread, or agent");
  }
  if (rule === undefined) throw new UsageError(await proposal(reeve, approvalId, signal));
  return {
    scope: scopes[scope],
    rule,
    ...(uses !== undefined && { maxUses: uses }),
    ...(seconds !== undefined && { lifetime: { seconds } }),
  };
}

async function proposal(
  reeve: Pick<Client, "listApprovals">,
  approvalId: string,
  signal: AbortSignal,
): Promise<string> {
  const [runId = ""] = approvalId.split("-");
  for await (const approval of reeve.listApprovals({ runId, signal })) {
    const { call } = approval;
    if (approval.approvalId !== approvalId || call === undefined) continue;
    const rule = exactRule(call.name, call.arguments ?? {}) ?? call.name;
    const quoted = `'${rule.replaceAll("'", `'\\''`)}'`;
    return `name the calls with --rule; exactly this one: --rule ${oneLine(quoted, 2_000)}`;
  }
  return `name the calls with --rule; there is no pending approval ${approvalId}`;
}
