import { ReeveError } from "@reeve/client";
import type { Client, Document } from "@reeve/client";
import { RefreshDocumentResponseSchema } from "@reeve/contracts/extensions/knowledge";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { exitCodes } from "../../exit-code.ts";
import { jsonLine } from "../../render/json-line.ts";
import { oneLine, plainText } from "../../render/plain-text.ts";

interface Options {
  readonly json?: true;
}

/** No collection has more documents. */
const maxDocuments = 1_000;
/** What keeps one document from being refreshed, and not the others. */
const ofDocument: ReadonlySet<string> = new Set([
  "DOCUMENT_UNREADABLE",
  "DOCUMENT_TOO_LARGE",
  "DOCUMENT_UNREACHABLE",
  "DOCUMENT_NOT_FOUND",
  "REVISION_CONFLICT",
  "COLLECTION_FULL",
  "QUOTA_EXCEEDED",
]);

/** Returns the command that fetches documents again. */
export function refreshCommand(context: Context): Command {
  const command = new Command("refresh")
    .description(
      "Fetch the documents that were added from URLs again, and replace those that have changed.",
    )
    .argument("<collection>", "id of the collection")
    .argument("[document]", "id of a document. Left out: all documents with a URL")
    .option("--json", "print one result per line as JSON");
  return command.action((collectionId: string, documentId: string | undefined, options: Options) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      if (documentId !== undefined) {
        await refresh(context, reeve, { collectionId, documentId }, options);
        return exitCodes.ok;
      }
      const documents: Document[] = [];
      const found = reeve.knowledge.documents(collectionId, { limit: maxDocuments, signal });
      for await (const each of found) if (each.origin !== undefined) documents.push(each);
      if (documents.length === 0) terminal.note("no document came from a URL\n");
      let failed = 0;
      for (const { documentId: id, name } of documents) {
        try {
          await refresh(context, reeve, { collectionId, documentId: id }, options);
        } catch (error) {
          if (!(error instanceof ReeveError) || !ofDocument.has(error.reason)) throw error;
          failed += 1;
          terminal.note(`${plainText(name)}: ${oneLine(error.message, 500)}\n`);
        }
      }
      if (failed === 0) return exitCodes.ok;
      terminal.note(`error: ${failed} of ${documents.length} documents were not refreshed\n`);
      return exitCodes.failed;
    }),
  );
}

async function refresh(
  { terminal, signal }: Context,
  reeve: Client,
  { collectionId, documentId }: { readonly collectionId: string; readonly documentId: string },
  { json }: Options,
): Promise<void> {
  const refreshed = await reeve.knowledge.refreshDocument(collectionId, documentId, { signal });
  for (const warning of refreshed.warnings) terminal.note(`${oneLine(warning, 500)}\n`);
  const { document, changed } = refreshed;
  const line = `${documentId}  ${plainText(document?.name ?? "")}  ${changed ? "replaced" : "unchanged"}\n`;
  terminal.out(json === true ? jsonLine(RefreshDocumentResponseSchema, refreshed) : line);
}
