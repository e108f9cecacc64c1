import { readFile } from "node:fs/promises";
import { Command } from "commander";
import type { FileEntry } from "@reeve/contracts/tool";
import { FileEntrySchema, FileKind, WriteFileResponseSchema } from "@reeve/contracts/tool";
import { create } from "@bufbuild/protobuf";
import { allPages } from "../all-pages.ts";
import type { Cli } from "../cli.ts";
import { withReeve } from "../cli.ts";
import type { Reeve } from "../client.ts";
import { saveChunks } from "../download.ts";
import { jsonLine } from "../json-line.ts";
import { formatBytes } from "../render/numbers.ts";
import { oneLine } from "../render/plain-text.ts";
import { table } from "../render/table.ts";
import { uploadFile } from "../upload.ts";

/** What one message carries; a larger file goes as an artifact. */
const maxInMessage = 512 * 1024;

/** The commands for the files that runs work with. */
export function filesCommand(cli: Cli): Command {
  const group = new Command("files").description("files in the workspace of a run");
  return group
    .addCommand(listCommand(cli))
    .addCommand(readCommand(cli))
    .addCommand(writeCommand(cli));
}

function listCommand(cli: Cli): Command {
  const command = new Command("list")
    .description("list files and folders")
    .argument("<run>", "id of the run")
    .argument("[path]", "a folder of the workspace", "")
    .option("-r, --recursive", "what is in folders too")
    .option("--json", "one file a line, as JSON");
  interface Options {
    readonly recursive?: boolean;
    readonly json?: true;
  }
  return command.action((runId: string, path: string, { recursive = false, json }: Options) =>
    withReeve(cli, command, async (reeve) => {
      const pages = allPages(async (pageToken) => {
        const request = { runId, path, recursive, pageToken, pageSize: 1_000 };
        const page = await reeve.files.listFiles(request, { signal: cli.signal });
        return { items: page.entries, nextPageToken: page.nextPageToken };
      });
      const entries = await Array.fromAsync(pages);
      if (json === true) {
        for (const each of entries) cli.terminal.out(jsonLine(FileEntrySchema, each));
      } else if (entries.length === 0) cli.terminal.note("no files\n");
      else cli.terminal.out(table(["SIZE", "PATH"], entries.map(rowOf)));
    }),
  );
}

function readCommand(cli: Cli): Command {
  const command = new Command("read")
    .description("print a file, or save it")
    .argument("<run>", "id of the run")
    .argument("<path>", "the file in the workspace")
    .option("-o, --output <path>", "where to; default: stdout")
    .option("--json", "what the file is, as JSON, in place of its bytes");
  interface Options {
    readonly output?: string;
    readonly json?: true;
  }
  return command.action((runId: string, path: string, { output, json }: Options) =>
    withReeve(cli, command, async (reeve) => {
      if (json === true) {
        for await (const { part } of reeve.files.readFile(
          { runId, path, length: 0n },
          { signal: cli.signal },
        )) {
          if (part.case === "file") cli.terminal.out(jsonLine(FileEntrySchema, part.value));
        }
        return;
      }
      const chunks = chunksOf(reeve, runId, path, cli.signal);
      if (output !== undefined) return await saveChunks(chunks, output, cli.signal);
      for await (const chunk of chunks) cli.terminal.outBytes(chunk);
    }),
  );
}

function writeCommand(cli: Cli): Command {
  const command = new Command("write")
    .description("write a local file into the workspace")
    .argument("<run>", "id of the run")
    .argument("<path>", "where to in the workspace")
    .argument("<file>", "the local file")
    .option("--json", "what was written, as JSON");
  return command.action(
    (runId: string, path: string, file: string, { json }: { readonly json?: true }) =>
      withReeve(cli, command, async (reeve) => {
        const source = await sourceOf(reeve, file, cli.signal);
        const { sizeBytes } = await reeve.files.writeFile(
          { runId, path, source },
          { signal: cli.signal },
        );
        const written = create(WriteFileResponseSchema, { sizeBytes });
        if (json === true) cli.terminal.out(jsonLine(WriteFileResponseSchema, written));
        else cli.terminal.note(`${path} (${formatBytes(Number(sizeBytes))})\n`);
      }),
  );
}

async function sourceOf(reeve: Reeve, path: string, signal: AbortSignal) {
  const local = { path, name: path };
  // Whether it can be read at all is told by the upload, which says so in full.
  const content = await readFile(path, { signal }).catch(() => undefined);
  if (content !== undefined && content.length <= maxInMessage) {
    return { case: "content", value: new Uint8Array(content) } as const;
  }
  const { artifactId } = await uploadFile(reeve, local, "application/octet-stream", signal);
  return { case: "artifactId", value: artifactId } as const;
}

async function* chunksOf(
  reeve: Reeve,
  runId: string,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { part } of reeve.files.readFile({ runId, path }, { signal })) {
    if (part.case === "chunk") yield part.value;
  }
}

function rowOf({ path, kind, sizeBytes }: FileEntry): readonly string[] {
  const shown = oneLine(path, 200);
  if (kind === FileKind.FOLDER) return ["", `${shown}/`];
  if (kind === FileKind.FILE) return [formatBytes(Number(sizeBytes)), shown];
  return ["", kind === FileKind.LINK ? `${shown} (a link)` : `${shown} (no file)`];
}
