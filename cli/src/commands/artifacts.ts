import { basename } from "node:path";
import type { Artifact } from "@reeve/client";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { saveFile } from "../files/save-file.ts";
import { formatBytes } from "../render/numbers.ts";
import { oneLine } from "../render/plain-text.ts";
import { printList } from "./print-list.ts";

export function artifactsCommand(context: Context): Command {
  return new Command("artifacts")
    .description("Manage artifacts: files that runs received or created.")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context));
}

function listCommand(context: Context): Command {
  const command = new Command("list")
    .description("List artifacts, oldest first.")
    .option("--run <id>", "only artifacts that this run created")
    .option("--json", "print one artifact per line as JSON");
  const format = { header: ["ARTIFACT", "NAME", "SIZE", "RUN"], row: rowOf, empty: "no artifacts" };
  return command.action(
    ({ run: runId = "", json }: { readonly run?: string; readonly json?: true }) =>
      withClient(context, command, async (reeve) => {
        const artifacts = reeve.listArtifacts({ runId, signal: context.signal });
        await printList(context.terminal, ArtifactSchema, artifacts, format, json === true);
      }),
  );
}

function getCommand(context: Context): Command {
  const command = new Command("get")
    .description("Download an artifact.")
    .argument("<artifact>", "id of the artifact")
    .option("-o, --output <path>", "output file; - for stdout (default: name of the artifact)");
  return command.action((artifactId: string, { output }: { readonly output?: string }) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const { artifact, chunks } = await reeve.download(artifactId, context);
      if (output === "-") {
        for await (const chunk of chunks) terminal.outBytes(chunk);
        return;
      }
      const path = output ?? basename(artifact.name);
      await saveFile(chunks, path, signal);
      terminal.note(`${path} (${formatBytes(artifact.sizeBytes)})\n`);
    }),
  );
}

function rowOf({ artifactId, name, sizeBytes, runId }: Artifact): readonly string[] {
  return [artifactId, oneLine(name, 60), formatBytes(sizeBytes), runId];
}
