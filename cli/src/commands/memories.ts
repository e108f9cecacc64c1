import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Memory } from "@reeve/client";
import { MemorySchema } from "@reeve/contracts/memory";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { jsonLine } from "../render/json-line.ts";
import { oneLine } from "../render/plain-text.ts";
import { parseLimit } from "./parse-option.ts";
import { printList } from "./print-list.ts";

export function memoriesCommand(context: Context): Command {
  return new Command("memories")
    .description("Manage what agents remember about you.")
    .addCommand(listCommand(context))
    .addCommand(searchCommand(context))
    .addCommand(addCommand(context))
    .addCommand(forgetCommand(context));
}

interface ListOptions {
  readonly limit: number;
  readonly json?: true;
}

const format = { header: ["MEMORY", "UPDATED", "TEXT"], row: rowOf, empty: "no memories" };

function listCommand(context: Context): Command {
  const command = new Command("list")
    .description("List memories, newest first.")
    .option("--limit <number>", "maximum number of memories", parseLimit, 100)
    .option("--json", "print one memory per line as JSON");
  return command.action(({ limit, json }: ListOptions) =>
    withClient(context, command, async (reeve) => {
      const memories = reeve.memories.list({ limit, signal: context.signal });
      await printList(context.terminal, MemorySchema, memories, format, json === true);
    }),
  );
}

function searchCommand(context: Context): Command {
  const command = new Command("search")
    .description("Find the memories that a run would recall for an input.")
    .argument("<query>", "the input")
    .option("--limit <number>", "maximum number of memories", parseLimit, 10)
    .option("--json", "print one memory per line as JSON");
  return command.action((query: string, { limit, json }: ListOptions) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const options = { limit: Math.min(limit, 100), signal };
      const { memories, latest } = await reeve.memories.search(query, options);
      // Programs take every line for a match, so only people see memories that do not match.
      const isFallback = json !== true && latest.length > 0;
      if (isFallback) terminal.note("no memory matches; the newest are:\n");
      const shown = isFallback ? latest : memories;
      await printList(terminal, MemorySchema, shown, format, json === true);
    }),
  );
}

function addCommand(context: Context): Command {
  const command = new Command("add")
    .description("Add a memory.")
    .argument("<text>", "what to remember")
    .option("--json", "print the memory as JSON");
  return command.action((text: string, { json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const memory = await reeve.memories.add({ text }, context);
      const line = json === true ? jsonLine(MemorySchema, memory) : `${memory.memoryId}\n`;
      context.terminal.out(line);
    }),
  );
}

function forgetCommand(context: Context): Command {
  const command = new Command("forget")
    .description("Delete a memory.")
    .argument("<memory>", "id of the memory");
  return command.action((memoryId: string) =>
    withClient(context, command, async (reeve) => {
      await reeve.memories.delete(memoryId, context);
      context.terminal.out(`${memoryId} deleted\n`);
    }),
  );
}

function rowOf({ memoryId, updatedAt, text }: Memory): readonly string[] {
  const updated = updatedAt === undefined ? "" : timestampDate(updatedAt).toISOString();
  return [memoryId, updated, oneLine(text, 100)];
}
