import { basename } from "node:path";
import { Command } from "commander";
import type { Artifact } from "@reeve/contracts/artifact";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { allPages } from "../all-pages.ts";
import type { Cli } from "../cli.ts";
import { withReeve } from "../cli.ts";
import { openDownload, saveDownload } from "../download.ts";
import { jsonLine } from "../json-line.ts";
import { formatBytes } from "../render/numbers.ts";
import { oneLine } from "../render/plain-text.ts";
import { table } from "../render/table.ts";

/** The commands for files that runs were given or made. */
export function artifactsCommand(cli: Cli): Command {
  const group = new Command("artifacts").description("files that runs were given or made");
  return group.addCommand(listCommand(cli)).addCommand(getCommand(cli));
}

function listCommand(cli: Cli): Command {
  const command = new Command("list")
    .description("list artifacts, oldest first")
    .option("--run <id>", "only those that this run made", "")
    .option("--json", "one artifact a line, as JSON");
  return command.action(({ run: runId, json }: { readonly run: string; readonly json?: true }) =>
    withReeve(cli, command, async (reeve) => {
      const pages = allPages(async (pageToken) => {
        const request = { runId, pageToken, pageSize: 1_000 };
        const page = await reeve.artifacts.listArtifacts(request, { signal: cli.signal });
        return { items: page.artifacts, nextPageToken: page.nextPageToken };
      });
      const artifacts = await Array.fromAsync(pages);
      if (json === true)
        for (const each of artifacts) cli.terminal.out(jsonLine(ArtifactSchema, each));
      else if (artifacts.length === 0) cli.terminal.note("no artifacts\n");
      else cli.terminal.out(table(["ARTIFACT", "NAME", "SIZE", "RUN"], artifacts.map(rowOf)));
    }),
  );
}

function getCommand(cli: Cli): Command {
  const command = new Command("get")
    .description("download an artifact")
    .argument("<artifact>", "id of the artifact")
    .option("-o, --output <path>", "where to; `-` is stdout; default: its name, in this folder");
  return command.action((artifactId: string, { output }: { readonly output?: string }) =>
    withReeve(cli, command, async (reeve) => {
      const download = await openDownload(reeve, artifactId, cli.signal);
      if (output === "-") {
        for await (const chunk of download.chunks) cli.terminal.outBytes(chunk);
        return;
      }
      const path = output ?? basename(download.artifact.name);
      await saveDownload(download, path, cli.signal);
      cli.terminal.note(`${path} (${formatBytes(download.artifact.sizeBytes)})\n`);
    }),
  );
}

function rowOf({ artifactId, name, sizeBytes, runId }: Artifact): readonly string[] {
  return [artifactId, oneLine(name, 60), formatBytes(sizeBytes), runId];
}
