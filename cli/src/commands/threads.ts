import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Thread, ThreadMessage } from "@reeve/client";
import {
  Role,
  ThreadMessageSchema,
  ThreadSchema,
  TurnIncompleteReason,
  TurnOutcome,
} from "@reeve/contracts/thread";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine, plainText } from "../render/plain-text.ts";
import { renderTree } from "../render/tree.ts";
import type { Terminal } from "../terminal.ts";
import { parseLimit } from "./parse-option.ts";
import { printList } from "./print-list.ts";

export function threadsCommand(context: Context): Command {
  return new Command("threads")
    .description("Show and delete conversations.")
    .addCommand(listCommand(context))
    .addCommand(showCommand(context))
    .addCommand(deleteCommand(context));
}

interface ListOptions {
  readonly limit: number;
  readonly json?: true;
}

function listCommand(context: Context): Command {
  const command = new Command("list")
    .description("List threads, most recently updated first.")
    .option("--limit <number>", "maximum number of threads", parseLimit, 20)
    .option("--json", "print one thread per line as JSON");
  const format = {
    header: ["THREAD", "TURNS", "UPDATED", "ACTIVE", "TITLE"],
    row: rowOf,
    empty: "no threads",
  };
  return command.action(({ limit, json }: ListOptions) =>
    withClient(context, command, async (reeve) => {
      const threads = reeve.threads.list({ limit, signal: context.signal });
      await printList(context.terminal, ThreadSchema, threads, format, json === true);
    }),
  );
}

function showCommand(context: Context): Command {
  const command = new Command("show")
    .description("Print the messages of a thread.")
    .argument("<thread>", "id of the thread")
    .option("--json", "print one message per line as JSON");
  return command.action((threadId: string, { json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      let isEmpty = true;
      for await (const message of reeve.threads.messages(threadId, { signal })) {
        isEmpty = false;
        if (json === true) terminal.out(jsonLine(ThreadMessageSchema, message));
        else terminal.out(renderMessage(message, terminal));
      }
      if (isEmpty && json !== true) {
        terminal.note("no messages: no turn of the thread has ended yet\n");
      }
    }),
  );
}

function deleteCommand(context: Context): Command {
  const command = new Command("delete")
    .description("Delete a thread that has no active run. Its runs remain.")
    .argument("<thread>", "id of the thread");
  return command.action((threadId: string) =>
    withClient(context, command, async (reeve) => {
      await reeve.threads.delete(threadId, context);
      context.terminal.out(`${threadId} deleted\n`);
    }),
  );
}

function rowOf(thread: Thread): readonly string[] {
  const queued = thread.queuedRunIds.length;
  return [
    thread.threadId,
    String(thread.endedTurns),
    thread.updatedAt === undefined ? "" : timestampDate(thread.updatedAt).toISOString(),
    queued === 0 ? thread.activeRunId : `${thread.activeRunId} + ${queued}`,
    oneLine(thread.title, 60),
  ];
}

function renderMessage(message: ThreadMessage, terminal: Terminal): string {
  const { style } = terminal;
  if (message.role === Role.USER) {
    return `${style("bold", "you")}  ${plainText(message.text).trim()}\n\n`;
  }
  const tree =
    message.executionTree === undefined ? "" : renderTree(message.executionTree, terminal);
  const end = renderEnd(message, terminal);
  const text = message.omittedTextBytes > 0 ? omitted(message) : plainText(message.text).trim();
  return `${style("bold", "agent")}\n${tree}${text}\n${end}\n`;
}

/** The run has the answer that was too large for the thread. */
function omitted({ runId, omittedTextBytes }: ThreadMessage): string {
  return `[an answer of ${omittedTextBytes} bytes; read it with: reeve watch ${oneLine(runId, 128)}]`;
}

function renderEnd(
  { outcome, error, incompleteReason }: ThreadMessage,
  { style }: Terminal,
): string {
  const ended = outcomes.get(outcome);
  const reason = error === "" ? "" : `: ${oneLine(error, 500)}`;
  if (ended !== undefined) return `${style("red", ended)}${reason}\n`;
  const incomplete = incompleteNames.get(incompleteReason);
  return incomplete === undefined ? "" : `${style("yellow", incomplete)}\n`;
}

const incompleteNames: ReadonlyMap<TurnIncompleteReason, string> = new Map([
  [TurnIncompleteReason.TRUNCATED, "truncated"],
  [TurnIncompleteReason.FILTERED, "filtered"],
]);

const outcomes: ReadonlyMap<TurnOutcome, string> = new Map([
  [TurnOutcome.ERROR, "failed"],
  [TurnOutcome.CANCELLED, "cancelled"],
]);
