import { randomUUID } from "node:crypto";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Command } from "commander";
import type { Memory } from "@reeve/contracts/memory";
import { MemorySchema } from "@reeve/contracts/memory";
import { allPages } from "../all-pages.ts";
import { brief, persistently } from "../back-off.ts";
import type { Cli } from "../cli.ts";
import { withReeve } from "../cli.ts";
import { jsonLine } from "../json-line.ts";
import { parseLimit } from "../parse-option.ts";
import { oneLine } from "../render/plain-text.ts";
import { table } from "../render/table.ts";

/** The commands that keep what agents remember of you. */
export function memoriesCommand(cli: Cli): Command {
  return new Command("memories")
    .description("keep what agents remember of you")
    .addCommand(listCommand(cli))
    .addCommand(searchCommand(cli))
    .addCommand(addCommand(cli))
    .addCommand(forgetCommand(cli));
}

interface Shown {
  readonly limit: number;
  readonly json?: true;
}

function listCommand(cli: Cli): Command {
  const command = new Command("list")
    .description("list what is remembered, the latest first")
    .option("--limit <number>", "at most this many", parseLimit, 100)
    .option("--json", "one memory a line, as JSON");
  return command.action(({ limit, json }: Shown) =>
    withReeve(cli, command, async (reeve) => {
      const pages = allPages(async (pageToken) => {
        const page = { pageToken, pageSize: Math.min(limit, 1_000) };
        const answer = await reeve.memories.listMemories(page, { signal: cli.signal });
        return { items: answer.memories, nextPageToken: answer.nextPageToken };
      }, limit);
      show(cli, await Array.fromAsync(pages), json === true);
    }),
  );
}

function searchCommand(cli: Cli): Command {
  const command = new Command("search")
    .description("find what a run would recall for an input")
    .argument("<query>", "the input")
    .option("--limit <number>", "at most this many", parseLimit, 10)
    .option("--json", "one memory a line, as JSON");
  return command.action((query: string, { limit, json }: Shown) =>
    withReeve(cli, command, async (reeve) => {
      const asked = { query, limit: Math.min(limit, 100) };
      const found = await reeve.memories.recallMemories(asked, { signal: cli.signal });
      // What does not fit is for people alone: a program that searches takes each line for a match.
      if (json === true || found.latest.length === 0) show(cli, found.memories, json === true);
      else {
        cli.terminal.note("nothing has a word of the query; the latest are:\n");
        show(cli, found.latest, false);
      }
    }),
  );
}

function addCommand(cli: Cli): Command {
  const command = new Command("add")
    .description("remember something")
    .argument("<text>", "what")
    .option("--json", "the memory, as JSON");
  return command.action((text: string, { json }: { readonly json?: true }) =>
    withReeve(cli, command, async (reeve) => {
      // One id for all attempts: an answer that was lost does not say it twice.
      const request = { text, requestId: randomUUID() };
      const remember = () => reeve.memories.createMemory(request, { signal: cli.signal });
      const { memory } = await persistently(remember, brief, cli.signal);
      if (memory === undefined) return;
      cli.terminal.out(json === true ? jsonLine(MemorySchema, memory) : `${memory.memoryId}\n`);
    }),
  );
}

function forgetCommand(cli: Cli): Command {
  const command = new Command("forget")
    .description("forget something")
    .argument("<memory>", "id of the memory");
  return command.action((memoryId: string) =>
    withReeve(cli, command, async (reeve) => {
      await reeve.memories.deleteMemory({ memoryId }, { signal: cli.signal });
      cli.terminal.out(`${memoryId} forgotten\n`);
    }),
  );
}

function show({ terminal }: Cli, memories: readonly Memory[], isJson: boolean): void {
  if (isJson) for (const memory of memories) terminal.out(jsonLine(MemorySchema, memory));
  else if (memories.length === 0) terminal.note("nothing is remembered\n");
  else terminal.out(table(["MEMORY", "SAID", "TEXT"], memories.map(rowOf)));
}

function rowOf({ memoryId, updatedAt, text }: Memory): readonly string[] {
  const said = updatedAt === undefined ? "" : timestampDate(updatedAt).toISOString();
  return [memoryId, said, oneLine(text, 100)];
}
