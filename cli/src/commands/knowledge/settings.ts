import type { Collection } from "@reeve/client";
import { CollectionSchema } from "@reeve/contracts/extensions/knowledge";
import { Command, Option } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { UsageError } from "../../exit-code.ts";
import { jsonLine } from "../../render/json-line.ts";
import { collectValues } from "../parse-option.ts";

interface JsonOption {
  readonly json?: true;
}

interface ReaderOptions extends JsonOption {
  readonly title?: string;
  readonly reader?: readonly string[];
  readonly group?: readonly string[];
}

interface UpdateOptions extends ReaderOptions {
  readonly everyone?: true;
}

/** Adds the options for who may read a collection. */
function withReaders(command: Command): Command {
  return command
    .option("--title <text>", "what its documents are about")
    .option(
      "--reader <subject>",
      "subject that may read it, beside its creator (repeatable)",
      collectValues,
    )
    .option(
      "--group <name>",
      "group whose members may read it, or role:NAME (repeatable)",
      collectValues,
    )
    .option("--json", "print the collection as JSON");
}

/** Returns the command that changes what its options name, and nothing else. */
export function updateCommand(context: Context): Command {
  const command = withReaders(
    new Command("update")
      .description("Change the title and the readers of a collection. What is left out stays.")
      .argument("<collection>", "id of the collection"),
  ).addOption(
    new Option("--everyone", "let everybody in the tenant read it").conflicts(["reader", "group"]),
  );
  return command.action((collectionId: string, options: UpdateOptions) =>
    withClient(context, command, async (reeve) => {
      const paths = changedBy(options);
      if (paths.length === 0) {
        throw new UsageError("name what to change: --title, --reader, --group, or --everyone");
      }
      const request = { ...requestOf(collectionId, options), updateMask: { paths } };
      printCollection(context, options, await reeve.knowledge.update(request, context));
    }),
  );
}

function changedBy({ title, reader, group, everyone }: UpdateOptions): string[] {
  return [
    ...(title === undefined ? [] : ["title"]),
    ...(reader === undefined && everyone === undefined ? [] : ["readers"]),
    ...(group === undefined && everyone === undefined ? [] : ["reader_groups"]),
  ];
}

/** Returns the command that creates a collection. */
export function createCommand(context: Context): Command {
  const command = withReaders(
    new Command("create")
      .description("Create a collection. Without readers, everybody in the tenant may read it.")
      .argument("<collection>", "id of the collection"),
  );
  return command.action((collectionId: string, options: ReaderOptions) =>
    withClient(context, command, async (reeve) => {
      const created = await reeve.knowledge.create(requestOf(collectionId, options), context);
      printCollection(context, options, created);
    }),
  );
}

function requestOf(collectionId: string, { title = "", reader = [], group = [] }: ReaderOptions) {
  return { collectionId, title, readers: [...reader], readerGroups: [...group] };
}

function printCollection({ terminal }: Context, { json }: JsonOption, shown: Collection): void {
  terminal.out(json === true ? jsonLine(CollectionSchema, shown) : `${shown.collectionId}\n`);
}
