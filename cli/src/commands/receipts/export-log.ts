import type { Client } from "@reeve/client";
import { ExportRunLogResponseSchema } from "@reeve/contracts/run";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import { saveFile, saveNewFile } from "../../files/save-file.ts";
import { jsonLine } from "../../render/json-line.ts";

/** Writes the log of a run as it is stored. */
export function exportCommand(context: Context): Command {
  const command = new Command("export")
    .description(
      "Export the log of a run as it is stored, as lines of JSON. With it, `verify --log` computes a receipt again.",
    )
    .argument("<run>", "id of the run")
    .option("-o, --output <path>", "file to create; default: standard output")
    .option("--force", "replace an existing file");
  interface Options {
    readonly output?: string;
    readonly force?: true;
  }
  return command.action((runId: string, { output, force }: Options) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const parts = reeve.exportRunLog(runId, { signal });
      if (output === undefined) {
        for await (const part of parts) terminal.out(jsonLine(ExportRunLogResponseSchema, part));
        return;
      }
      const save = force === true ? saveFile : saveNewFile;
      await save(linesOf(parts), output, signal);
      terminal.out(`${output}\n`);
    }),
  );
}

async function* linesOf(parts: ReturnType<Client["exportRunLog"]>): AsyncIterable<Uint8Array> {
  for await (const part of parts) yield Buffer.from(jsonLine(ExportRunLogResponseSchema, part));
}
