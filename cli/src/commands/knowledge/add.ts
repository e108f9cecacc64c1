import { readdir, stat } from "node:fs/promises";
import { basename, extname, join, relative, sep } from "node:path";
import type { Client } from "@reeve/client";
import { DocumentSchema } from "@reeve/contracts/extensions/knowledge";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { readLocalFile } from "../../files/local-file.ts";
import { jsonLine } from "../../render/json-line.ts";
import { plainText } from "../../render/plain-text.ts";

/** The endings of the files that are read of a folder. */
const endings = new Set([".md", ".markdown", ".txt", ".html", ".htm", ".pdf", ".docx"]);

interface Options {
  readonly name?: string;
  readonly mediaType?: string;
  readonly json?: true;
}

/** A file on this machine, and the name of its document. */
interface Source {
  readonly path: string;
  readonly name: string;
}

/** Returns the command that adds documents from this machine. */
export function addCommand(context: Context): Command {
  const command = new Command("add")
    .description(
      "Add documents: files, or all text, Markdown, HTML, PDF, and DOCX files of folders. A document with the same name is replaced.",
    )
    .argument("<collection>", "id of the collection")
    .argument("<path...>", "files and folders")
    .option("--name <name>", "name of the document; only for one file. Default: the file name")
    .option("--media-type <type>", "media type of the files. Default: by their endings")
    .option("--json", "print one document per line as JSON");
  return command.action((collectionId: string, paths: readonly string[], options: Options) =>
    withClient(context, command, async (reeve) => {
      const { terminal } = context;
      const sources = (await Promise.all(paths.map(sourcesAt))).flat();
      if (options.name !== undefined && sources.length !== 1) {
        command.error("error: --name takes exactly one file");
      }
      if (sources.length === 0) terminal.note("no file that can be read\n");
      for (const source of sources) {
        const named = { ...source, name: options.name ?? source.name };
        const document = await addFile(context, reeve, { collectionId, ...named }, options);
        const { documentId, name, passageCount } = document;
        const line = `${documentId}  ${plainText(name)}  ${passageCount} passages\n`;
        terminal.out(options.json === true ? jsonLine(DocumentSchema, document) : line);
      }
    }),
  );
}

async function addFile(
  { signal }: Context,
  reeve: Client,
  { collectionId, path, name }: Source & { readonly collectionId: string },
  { mediaType = "" }: Options,
) {
  const content = await readLocalFile(path);
  const document = { collectionId, name, mediaType };
  if (content instanceof Uint8Array) {
    const source = { case: "content", value: new Uint8Array(content) } as const;
    return await reeve.knowledge.addDocument({ ...document, source }, { signal });
  }
  // Too large for one message.
  const { artifactId } = await reeve.upload({ name: basename(path), content }, { signal });
  try {
    const source = { case: "artifactId", value: artifactId } as const;
    return await reeve.knowledge.addDocument({ ...document, source }, { signal });
  } finally {
    // Only operators may delete it. What stays is an artifact like others.
    await reeve.deleteArtifact(artifactId).catch(() => undefined);
  }
}

/** Returns the files at a path, ordered by name. Hidden files and folders are left out. */
async function sourcesAt(path: string): Promise<readonly Source[]> {
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
