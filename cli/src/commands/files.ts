import { create } from "@bufbuild/protobuf";
import type { FileEntry } from "@reeve/client";
import { FileEntrySchema, FileKind, WriteFileResponseSchema } from "@reeve/contracts/tool";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { readLocalFile } from "../files/local-file.ts";
import { saveFile } from "../files/save-file.ts";
import { jsonLine } from "../render/json-line.ts";
import { formatBytes } from "../render/numbers.ts";
import { oneLine } from "../render/plain-text.ts";
import { printList } from "./print-list.ts";

export function filesCommand(context: Context): Command {
  return new Command("files")
    .description("Manage the files in the workspace of a run.")
    .addCommand(listCommand(context))
    .addCommand(readCommand(context))
    .addCommand(writeCommand(context));
}

function listCommand(context: Context): Command {
  const command = new Command("list")
    .description("List files and folders.")
    .argument("<run>", "id of the run")
    .argument("[path]", "folder in the workspace", "")
    .option("-r, --recursive", "include the content of subfolders")
    .option("--json", "print one file per line as JSON");
  interface Options {
    readonly recursive?: boolean;
    readonly json?: true;
  }
  const format = { header: ["SIZE", "PATH"], row: rowOf, empty: "no files" };
  return command.action((runId: string, path: string, { recursive = false, json }: Options) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const entries = reeve.files.list(runId, { path, recursive, signal });
      await printList(terminal, FileEntrySchema, entries, format, json === true);
    }),
  );
}

function readCommand(context: Context): Command {
  const command = new Command("read")
    .description("Print a file, or save it.")
    .argument("<run>", "id of the run")
    .argument("<path>", "file in the workspace")
    .option("-o, --output <path>", "output file (default: stdout)")
    .option("--json", "print the properties of the file as JSON, without its content");
  interface Options {
    readonly output?: string;
    readonly json?: true;
  }
  return command.action((runId: string, path: string, { output, json }: Options) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      if (json === true) {
        const file = await reeve.files.stat(runId, path, context);
        terminal.out(jsonLine(FileEntrySchema, file));
        return;
      }
      const { chunks } = await reeve.files.read(runId, path, context);
      if (output !== undefined) return await saveFile(chunks, output, signal);
      for await (const chunk of chunks) terminal.outBytes(chunk);
    }),
  );
}

function writeCommand(context: Context): Command {
  const command = new Command("write")
    .description("Copy a local file into the workspace.")
    .argument("<run>", "id of the run")
    .argument("<path>", "destination in the workspace")
    .argument("<file>", "local file")
    .option("--json", "print the size of the file as JSON");
  return command.action(
    (runId: string, path: string, file: string, { json }: { readonly json?: true }) =>
      withClient(context, command, async (reeve) => {
        const { terminal } = context;
        const sizeBytes = await reeve.files.write(runId, path, await readLocalFile(file), context);
        const written = create(WriteFileResponseSchema, { sizeBytes: BigInt(sizeBytes) });
        if (json === true) terminal.out(jsonLine(WriteFileResponseSchema, written));
        else terminal.note(`${path} (${formatBytes(sizeBytes)})\n`);
      }),
  );
}

function rowOf({ path, kind, sizeBytes }: FileEntry): readonly string[] {
  const name = oneLine(path, 200);
  if (kind === FileKind.FOLDER) return ["", `${name}/`];
  if (kind === FileKind.FILE) return [formatBytes(Number(sizeBytes)), name];
  return ["", kind === FileKind.LINK ? `${name} (link)` : `${name} (not a regular file)`];
}
