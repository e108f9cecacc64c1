import { readdir, stat } from "node:fs/promises";
import { basename, extname, join, relative, sep } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { Client, Collection } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { ErrorReason } from "@reeve/contracts/error";
import { DocumentSchema } from "@reeve/contracts/extensions/knowledge";
import { Failure } from "@reeve/platform/failure";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { exitCodes } from "../../exit-code.ts";
import { readLocalFile } from "../../files/local-file.ts";
import { jsonLine } from "../../render/json-line.ts";
import { oneLine, plainText } from "../../render/plain-text.ts";

/** The endings of the files that are read of a folder. */
const endings = new Set([".md", ".markdown", ".txt", ".html", ".htm", ".pdf", ".docx"]);

interface Options {
  readonly name?: string;
  readonly mediaType?: string;
  readonly json?: true;
}

/** A file on this machine or a URL, and the name of its document. */
interface Source {
  readonly path: string;
  readonly name: string;
  readonly isUrl?: true;
}

/** Returns the command that adds documents from this machine and from the web. */
export function addCommand(context: Context): Command {
  const command = new Command("add")
    .description(
      "Add documents: files, all text, Markdown, HTML, PDF, and DOCX files of folders, or URLs of https, which the server fetches. A document with the same name is replaced.",
    )
    .argument("<collection>", "id of the collection")
    .argument("<path...>", "files, folders, and URLs")
    .option(
      "--name <name>",
      "name of the document; only for one. Default: the file name, or host and path of the URL",
    )
    .option(
      "--media-type <type>",
      "media type of the documents. Default: by their endings, or what the server of the URL says",
    )
    .option("--json", "print one document per line as JSON");
  return command.action((collectionId: string, paths: readonly string[], options: Options) =>
    withClient(context, command, async (reeve) => {
      const { terminal } = context;
      const found = (await Promise.all(paths.map(sourcesAt))).flat();
      if (options.name !== undefined && found.length !== 1) {
        command.error("error: --name takes exactly one document");
      }
      if (found.length === 0) terminal.note("no file that can be read\n");
      const sources = found.map((source) => ({ ...source, name: options.name ?? source.name }));
      assertDistinct(command, sources);
      let unread = 0;
      for (const source of sources) {
        try {
          const { document, warnings } = await addFile(
            context,
            reeve,
            { collectionId, ...source },
            options,
          );
          for (const warning of warnings) terminal.note(`${oneLine(warning, 500)}\n`);
          const { documentId, name, passageCount } = document ?? create(DocumentSchema);
          const line = `${documentId}  ${plainText(name)}  ${passageCount} passages\n`;
          terminal.out(
            options.json === true
              ? jsonLine(DocumentSchema, document ?? create(DocumentSchema))
              : line,
          );
        } catch (error) {
          // One document of a folder that cannot be read does not keep out the others.
          if (sources.length === 1 || !isOfDocument(error)) throw error;
          unread += 1;
          terminal.note(`${plainText(source.path)}: ${oneLine(error.message, 500)}\n`);
        }
      }
      if (unread === 0) return exitCodes.ok;
      terminal.note(`error: ${unread} of ${sources.length} files were not added\n`);
      return exitCodes.failed;
    }),
  );
}

/** Ends the command if two files would become one document: the second would replace the first. */
function assertDistinct(command: Command, sources: readonly Source[]): void {
  const byName = Map.groupBy(sources, ({ name }) => name);
  for (const [name, same] of byName) {
    if (same.length === 1) continue;
    const paths = same.map(({ path }) => plainText(path)).join(" and ");
    command.error(
      `error: ${paths} would both be the document "${plainText(name)}"; add them one by one with --name`,
    );
  }
}

/** Whether the document is what was refused, and not the command. */
function isOfDocument(error: unknown): error is Error {
  // A file on this machine that cannot be read.
  if (error instanceof Failure) return true;
  if (!(error instanceof ReeveError)) return false;
  const { reason, violations } = error;
  const reasons = ["DOCUMENT_UNREADABLE", "DOCUMENT_TOO_LARGE", "DOCUMENT_UNREACHABLE"];
  const ofDocument = reasons.includes(reason ?? "");
  return ofDocument || violations.some(({ field }) => ["name", "url"].includes(field));
}

async function addFile(
  { signal }: Context,
  reeve: Client,
  { collectionId, path, name, isUrl }: Source & { readonly collectionId: string },
  { mediaType = "" }: Options,
) {
  const document = { collectionId, name, mediaType };
  if (isUrl === true) {
    const source = { case: "url", value: path } as const;
    return await reeve.knowledge.addDocument({ ...document, source }, { signal });
  }
  const content = await readLocalFile(path);
  if (content instanceof Uint8Array) {
    const source = { case: "content", value: new Uint8Array(content) } as const;
    return await reeve.knowledge.addDocument({ ...document, source }, { signal });
  }
  // Too large for one message. Everybody in the tenant may read an upload.
  if (isRestricted(await reeve.knowledge.get(collectionId, { signal }))) {
    throw new Failure(
      "invalid",
      ErrorReason.INVALID_REQUEST,
      `${path} is too large for a collection with readers of its own: it would have to be uploaded as an artifact, which everybody in the tenant may read; divide it into files of at most 1 MiB`,
    );
  }
  const { artifactId } = await reeve.upload({ name: basename(path), content }, { signal });
  const source = { case: "artifactId", value: artifactId } as const;
  const request = { ...document, source, discardArtifact: true };
  return await reeve.knowledge.addDocument(request, { signal });
}

function isRestricted({ readers, readerGroups }: Collection): boolean {
  return readers.length > 0 || readerGroups.length > 0;
}

/** Returns a URL, or the files at a path, ordered by name. Hidden files and folders are left out. */
async function sourcesAt(path: string): Promise<readonly Source[]> {
  if (/^https?:\/\//i.test(path)) return [{ path, name: nameOfUrl(path), isUrl: true }];
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) return [{ path, name: basename(path) }];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && endings.has(extname(entry.name).toLowerCase()))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: file, name: relative(path, file).split(sep).join("/") }))
    .filter(({ name }) => !name.split("/").some((part) => part.startsWith(".")))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns host, path, and query of a URL: `example.org/policies/travel.html`. */
function nameOfUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  const { host, pathname, search } = url;
  return `${host}${pathname.replace(/\/$/, "")}${search}`;
}
