import { basename } from "node:path";
import type { Artifact } from "@reeve/client";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { saveFile, saveNewFile } from "../files/save-file.ts";
import { formatBytes } from "../render/numbers.ts";
import { oneLine, plainText } from "../render/plain-text.ts";
import { printList } from "./print-list.ts";

export function artifactsCommand(context: Context): Command {
  return new Command("artifacts")
    .description("Manage artifacts: files that runs received or created.")
    .addCommand(listCommand(context))
    .addCommand(getCommand(context))
    .addCommand(deleteCommand(context));
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
    .option("-o, --output <path>", "output file; - for stdout (default: name of the artifact)")
    .option("-f, --force", "replace an existing file");
  interface Options {
    readonly output?: string;
    readonly force?: true;
  }
  return command.action((artifactId: string, { output, force }: Options) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const { artifact, chunks } = await reeve.download(artifactId, context);
      try {
        if (output === "-") {
          for await (const chunk of chunks) terminal.outBytes(chunk);
          return;
        }
        const path = output ?? fileNameOf(artifact);
        await (force === true ? saveFile : saveNewFile)(chunks, path, signal);
        terminal.note(`${path} (${formatBytes(artifact.sizeBytes)})\n`);
      } finally {
        // A transfer that was not read keeps the process alive until it times out.
        await chunks.return();
      }
    }),
  );
}

function deleteCommand(context: Context): Command {
  const command = new Command("delete")
    .description("Delete an artifact.")
    .argument("<artifact>", "id of the artifact");
  return command.action((artifactId: string) =>
    withClient(context, command, async (reeve) => {
      const existed = await reeve.deleteArtifact(artifactId, context);
      context.terminal.out(existed ? `${artifactId} deleted\n` : `${artifactId} does not exist\n`);
    }),
  );
}

/** Returns the name under which an artifact is saved. The name comes from the client or tool that stored it. */
function fileNameOf({ artifactId, name }: Artifact): string {
  const file = basename(name);
  if (file !== "" && !file.startsWith(".") && file === plainText(file)) return file;
  const message = `artifact ${artifactId} has a name that is hidden or not plain text; choose a file with --output`;
  throw new Failure("precondition", ErrorReason.INVALID_REQUEST, message);
}

function rowOf({ artifactId, name, sizeBytes, runId }: Artifact): readonly string[] {
  return [artifactId, oneLine(name, 60), formatBytes(sizeBytes), runId];
}
