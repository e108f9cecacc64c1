import { fromBinary } from "@bufbuild/protobuf";
import { decideCall } from "@reeve/agent/permission/decide-call";
import type { PermissionLevel } from "@reeve/agent/permission/permission-levels";
import { ruleLevel } from "@reeve/agent/permission/rule-level";
import type { Client } from "@reeve/client";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import type { RunEvent } from "@reeve/contracts/run";
import { RunBatchSchema } from "@reeve/contracts/run";
import type { ToolCall, ToolDescriptor } from "@reeve/contracts/tool";
import { Command, Option } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { UsageError } from "../../exit-code.ts";
import { oneLine } from "../../render/plain-text.ts";
import { table } from "../../render/table.ts";
import { shortArguments } from "../../render/tool.ts";
import { parseLimit } from "../parse-option.ts";

/** How many of the matching calls are shown. */
const maxShown = 20;

/** A call of a run, and the tool that the run had. */
interface PastCall {
  readonly runId: string;
  readonly call: ToolCall;
  readonly tool: ToolDescriptor;
}

/** Counts which of the latest calls a permission rule would have matched, by reading the logs of runs. */
export function previewRuleCommand(context: Context): Command {
  const command = new Command("preview-rule")
    .description("Count which of the latest tool calls a permission rule would have matched.")
    .argument("<rule>", "rule, for example 'run_command(git *)'")
    .option("--agent <id>", "only calls of this agent")
    .addOption(
      new Option("--behavior <behavior>", "what the rule would do")
        .choices(["ask", "allow", "deny"])
        .default("deny"),
    )
    .addOption(
      new Option("--calls <n>", "how many calls to read").argParser(parseLimit).default(1_000),
    )
    .option("--json", "print the counts, and each matching call, as JSON");
  interface Options {
    readonly agent?: string;
    readonly behavior: "ask" | "allow" | "deny";
    readonly calls: number;
    readonly json?: true;
  }
  return command.action((rule: string, { agent: agentId = "", behavior, calls, json }: Options) => {
    const { level, problem } = ruleLevel(rule, behavior);
    if (level === undefined) throw new UsageError(`the rule "${rule}" ${problem}`);
    return withClient(context, command, async (reeve) => {
      const matching: PastCall[] = [];
      let read = 0;
      for await (const past of latestCalls(reeve, agentId, context.signal)) {
        read++;
        if (matches(level, past)) matching.push(past);
        if (read === calls) break;
      }
      const { terminal } = context;
      if (json === true) {
        const found = matching.map(({ runId, call: { callId, name } }) => ({
          runId,
          callId,
          name,
        }));
        terminal.out(`${JSON.stringify({ rule, read, matched: matching.length, calls: found })}\n`);
        return;
      }
      terminal.out(`would have matched ${matching.length} of the last ${read} calls\n`);
      if (matching.length === 0) return;
      const rows = matching.slice(0, maxShown).map(({ runId, call: { name, arguments: args } }) => {
        return [runId, oneLine(name, 128), oneLine(shortArguments(args ?? {}), 200)];
      });
      terminal.out(table(["RUN", "TOOL", "ARGUMENTS"], rows));
    });
  });
}

function matches(level: PermissionLevel, { call, tool }: PastCall): boolean {
  return decideCall([level], { tool, args: call.arguments ?? {} }) !== undefined;
}

/** Yields the calls of runs, those of the newest run first. */
async function* latestCalls(
  reeve: Client,
  agentId: string,
  signal: AbortSignal,
): AsyncIterable<PastCall> {
  for await (const { runId } of reeve.listRuns({ agentId, signal })) {
    const events: RunEvent[] = [];
    for await (const { batches } of reeve.exportRunLog(runId, { signal })) {
      for (const { payload } of batches) {
        events.push(...fromBinary(RunBatchSchema, payload, storedReadOptions).events);
      }
    }
    yield* callsOf(runId, events).toReversed();
  }
}

/** Returns the calls of a run of tools that it had. */
function callsOf(runId: string, events: readonly RunEvent[]): readonly PastCall[] {
  const tools = new Map<string, ToolDescriptor>();
  return events.flatMap(({ event }): readonly PastCall[] => {
    if (event.case === "runPrepared") {
      for (const tool of event.value.tools) tools.set(tool.name, tool);
    }
    // An inherited call is that of another run.
    if (event.case !== "toolCall" || event.value.inheritedFrom !== "") return [];
    const tool = tools.get(event.value.name);
    return tool === undefined ? [] : [{ runId, call: event.value, tool }];
  });
}
