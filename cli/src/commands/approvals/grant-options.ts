import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { exactRule } from "@reeve/agent/permission/exact-rule";
import { freeArguments } from "@reeve/agent/permission/free-arguments";
import type { Client } from "@reeve/client";
import type { GrantRequestSchema } from "@reeve/contracts/approval";
import { GrantScope } from "@reeve/contracts/approval";
import type { ToolCall } from "@reeve/contracts/tool";
import type { Command } from "commander";
import { Option } from "commander";
import { UsageError } from "../../exit-code.ts";
import { oneLine } from "../../render/plain-text.ts";
import { shellQuoted } from "../../render/shell-quoted.ts";
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
  command.option(
    "--rule <rule>",
    "with --scope: which calls; without it, a rule for the call is shown",
  );
  command.option("--uses <n>", "with --scope: how many calls; default: 10", parseLimit);
  command.option(
    "--for <duration>",
    "with --scope: how long, as 30m or 7d; default: 1h",
    parseSeconds,
  );
}

/** Returns the grant that the options ask for, if any. Throws a UsageError that proposes a rule if they name none. */
export async function grantOf(
  { scope, rule, uses, for: seconds }: GrantOptions,
  reeve: Pick<Client, "listApprovals" | "listTools">,
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

/** Returns what to name with `--rule`: the exact rule of the call, if there is one, and which arguments it leaves free. */
async function proposal(
  reeve: Pick<Client, "listApprovals" | "listTools">,
  approvalId: string,
  signal: AbortSignal,
): Promise<string> {
  const [runId = ""] = approvalId.split("-");
  for await (const approval of reeve.listApprovals({ runId, signal })) {
    const { call } = approval;
    if (approval.approvalId !== approvalId || call === undefined) continue;
    return exactProposal(call, await schemaOf(reeve, call.name, signal));
  }
  return `name the calls with --rule; there is no pending approval ${approvalId}`;
}

function exactProposal(
  { name, arguments: args = {} }: Pick<ToolCall, "name" | "arguments">,
  inputSchema: JsonObject | undefined,
): string {
  const rule = exactRule(name, args);
  if (rule === undefined) {
    return "name the calls with --rule; no rule matches exactly this call, because it would be too long or an argument cannot be named: write one that matches the calls you mean";
  }
  const shown = `--rule ${shellQuoted(rule)}`;
  const { names, hasOthers } = freeArguments(inputSchema, args);
  const free = names.map((each) => oneLine(each, 64));
  if (hasOthers) free.push("any argument that the call leaves out");
  if (free.length === 0) return `name the calls with --rule; exactly this one: ${shown}`;
  const values =
    Object.keys(args).length === 0 ? "all calls of the tool" : "calls with the same values";
  return `name the calls with --rule; ${values}: ${shown}; it leaves free: ${free.join(", ")}`;
}

/** Returns the schema of a tool as the deployment has it. Undefined: it has no such tool, or does not say. */
async function schemaOf(
  reeve: Pick<Client, "listTools">,
  name: string,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  try {
    const tools = await reeve.listTools({ signal });
    return tools.find((tool) => tool.name === name)?.inputSchema;
  } catch {
    // The proposal says then that arguments may be free.
    signal.throwIfAborted();
    return undefined;
  }
}
