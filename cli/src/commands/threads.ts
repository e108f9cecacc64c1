import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Command } from "commander";
import type { Thread, ThreadMessage } from "@reeve/contracts/thread";
import { Role, ThreadMessageSchema, ThreadSchema, TurnOutcome } from "@reeve/contracts/thread";
import { allPages } from "../all-pages.ts";
import type { Cli } from "../cli.ts";
import { withReeve } from "../cli.ts";
import { jsonLine } from "../json-line.ts";
import { parseLimit } from "../parse-option.ts";
import { oneLine, plainText } from "../render/plain-text.ts";
import { table } from "../render/table.ts";
import { renderTree } from "../render/tree-lines.ts";
import type { Terminal } from "../terminal.ts";

/** The commands for conversations. */
export function threadsCommand(cli: Cli): Command {
  return new Command("threads")
    .description("show and delete conversations")
    .addCommand(listCommand(cli))
    .addCommand(showCommand(cli))
    .addCommand(deleteCommand(cli));
}

interface ListOptions {
  readonly limit: number;
  readonly json?: true;
}

function listCommand(cli: Cli): Command {
  const command = new Command("list")
    .description("list threads, the one that changed last first")
    .option("--limit <number>", "at most this many", parseLimit, 20)
    .option("--json", "one thread a line, as JSON");
  return command.action(({ limit, json }: ListOptions) =>
    withReeve(cli, command, async (reeve) => {
      const pages = allPages(async (pageToken) => {
        const page = { pageToken, pageSize: Math.min(limit, 1_000) };
        const answer = await reeve.threads.listThreads(page, { signal: cli.signal });
        return { items: answer.threads, nextPageToken: answer.nextPageToken };
      }, limit);
      const threads = await Array.fromAsync(pages);
      const { terminal } = cli;
      if (json === true) for (const thread of threads) terminal.out(jsonLine(ThreadSchema, thread));
      else if (threads.length === 0) terminal.note("no threads\n");
      else terminal.out(table(["THREAD", "TURNS", "CHANGED", "NOW", "ASKED"], threads.map(rowOf)));
    }),
  );
}

function showCommand(cli: Cli): Command {
  const command = new Command("show")
    .description("show what was said in a thread")
    .argument("<thread>", "id of the thread")
    .option("--json", "one message a line, as JSON");
  return command.action((threadId: string, { json }: { readonly json?: true }) =>
    withReeve(cli, command, async (reeve) => {
      const pages = allPages(async (pageToken) => {
        const page = { threadId, pageToken, pageSize: 1_000 };
        const answer = await reeve.threads.listThreadMessages(page, { signal: cli.signal });
        return { items: answer.messages, nextPageToken: answer.nextPageToken };
      }, Number.POSITIVE_INFINITY);
      for await (const message of pages) {
        if (json === true) cli.terminal.out(jsonLine(ThreadMessageSchema, message));
        else cli.terminal.out(renderMessage(message, cli.terminal));
      }
    }),
  );
}

function deleteCommand(cli: Cli): Command {
  const command = new Command("delete")
    .description("delete a thread in which nothing is under way; its runs stay")
    .argument("<thread>", "id of the thread");
  return command.action((threadId: string) =>
    withReeve(cli, command, async (reeve) => {
      await reeve.threads.deleteThread({ threadId }, { signal: cli.signal });
      cli.terminal.out(`${threadId} deleted\n`);
    }),
  );
}

function rowOf(thread: Thread): readonly string[] {
  const waiting = thread.queuedRunIds.length;
  const now = thread.activeRunId === "" ? "" : thread.activeRunId;
  return [
    thread.threadId,
    String(thread.endedTurns),
    thread.updatedAt === undefined ? "" : timestampDate(thread.updatedAt).toISOString(),
    waiting === 0 ? now : `${now} + ${waiting}`,
    oneLine(thread.title, 60),
  ];
}

function renderMessage(message: ThreadMessage, terminal: Terminal): string {
  const { colours } = terminal;
  if (message.role === Role.USER) {
    return `${colours.bold("you")}  ${plainText(message.text).trim()}\n\n`;
  }
  const tree =
    message.executionTree === undefined ? "" : renderTree(message.executionTree, terminal);
  const ended = outcomes.get(message.outcome);
  const why = message.error === "" ? "" : `: ${oneLine(message.error, 500)}`;
  const end = ended === undefined ? "" : `${colours.red(ended)}${why}\n`;
  return `${colours.bold("agent")}\n${tree}${plainText(message.text).trim()}\n${end}\n`;
}

const outcomes: ReadonlyMap<TurnOutcome, string> = new Map([
  [TurnOutcome.ERROR, "ended in an error"],
  [TurnOutcome.CANCELLED, "was cancelled"],
]);
