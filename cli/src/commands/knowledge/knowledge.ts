import type { Collection, Document } from "@reeve/client";
import {
  CollectionSchema,
  DocumentSchema,
  PassageSchema,
} from "@reeve/contracts/extensions/knowledge";
import type { Passage } from "@reeve/contracts/extensions/knowledge";
import { labelOf } from "@reeve/knowledge/render-passages";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { jsonLine } from "../../render/json-line.ts";
import { oneLine, plainText } from "../../render/plain-text.ts";
import { parseLimit } from "../parse-option.ts";
import { printList } from "../print-list.ts";
import { addCommand } from "./add.ts";
import { refreshCommand } from "./refresh.ts";
import { createCommand, updateCommand } from "./settings.ts";

/** Returns the command that manages collections of documents. */
export function knowledgeCommand(context: Context): Command {
  return new Command("knowledge")
    .description("Manage and search the documents that agents cite.")
    .addCommand(createCommand(context))
    .addCommand(updateCommand(context))
    .addCommand(addCommand(context))
    .addCommand(refreshCommand(context))
    .addCommand(listCommand(context))
    .addCommand(searchCommand(context))
    .addCommand(deleteCommand(context));
}

interface JsonOption {
  readonly json?: true;
}

interface ListOptions extends JsonOption {
  readonly limit: number;
}

const collections = {
  header: ["COLLECTION", "DOCUMENTS", "TEXT", "READERS", "TITLE"],
  row: ({ collectionId, documentCount, textBytes, readers, readerGroups, title }: Collection) => [
    collectionId,
    String(documentCount),
    `${textBytes} B`,
    readersOf(readers, readerGroups),
    oneLine(title, 60),
  ],
  empty: "no collections",
};

const documents = {
  header: ["DOCUMENT", "PAGES", "PASSAGES", "TYPE", "NAME"],
  row: ({ documentId, pageCount, passageCount, mediaType, name }: Document) => [
    documentId,
    pageCount === 0 ? "-" : String(pageCount),
    String(passageCount),
    mediaType,
    oneLine(name, 100),
  ],
  empty: "no documents",
};

function readersOf(readers: readonly string[], groups: readonly string[]): string {
  const all = [...readers, ...groups.map((group) => `${group} (group)`)];
  return all.length === 0 ? "everybody" : oneLine(all.join(","), 40);
}

function listCommand(context: Context): Command {
  const command = new Command("list")
    .description("List collections, or the documents of one.")
    .argument("[collection]", "id of a collection")
    .option("--limit <number>", "maximum number of entries", parseLimit, 100)
    .option("--json", "print one entry per line as JSON");
  return command.action((collectionId: string | undefined, { limit, json }: ListOptions) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const isJson = json === true;
      if (collectionId === undefined) {
        const found = reeve.knowledge.list({ limit, signal });
        await printList(terminal, CollectionSchema, found, collections, isJson);
        return;
      }
      const found = reeve.knowledge.documents(collectionId, { limit, signal });
      await printList(terminal, DocumentSchema, found, documents, isJson);
    }),
  );
}

function searchCommand(context: Context): Command {
  const command = new Command("search")
    .description("Find passages, as an agent does.")
    .argument("<collection>", "id of the collection, or several with commas")
    .argument("<query>", "words to search for")
    .option("--limit <number>", "maximum number of passages", parseLimit, 5)
    .option("--json", "print one passage per line as JSON");
  return command.action((ids: string, query: string, { limit, json }: ListOptions) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const options = { limit: Math.min(limit, 50), signal };
      const found = await reeve.knowledge.search(ids.split(","), query, options);
      const { passages, retrieval } = found;
      for (const warning of retrieval?.warnings ?? []) terminal.note(`${oneLine(warning, 500)}\n`);
      if (passages.length === 0) terminal.note("no passage matches the query\n");
      for (const each of passages) {
        terminal.out(json === true ? jsonLine(PassageSchema, each) : textOf(each));
      }
    }),
  );
}

function textOf(passage: Passage): string {
  const text = plainText(passage.text).replaceAll(/^/gm, "  ");
  return `[${plainText(labelOf(passage))}]\n${text}\n\n`;
}

function deleteCommand(context: Context): Command {
  const command = new Command("delete")
    .description("Delete a collection, or one of its documents.")
    .argument("<collection>", "id of the collection")
    .argument("[document]", "id of the document. Left out: the whole collection");
  return command.action((collectionId: string, documentId: string | undefined) =>
    withClient(context, command, async ({ knowledge }) => {
      if (documentId === undefined) await knowledge.delete(collectionId, context);
      else await knowledge.deleteDocument(collectionId, documentId, context);
      context.terminal.out(`${documentId ?? collectionId} deleted\n`);
    }),
  );
}
