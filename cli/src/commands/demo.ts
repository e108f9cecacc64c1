import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Cli } from "../cli.ts";
import { openReeve } from "../client.ts";
import type { Deciding } from "../demo/decide.ts";
import { checkDemoFile, checkReportPath } from "../demo/demo-file.ts";
import { playDemo } from "../demo/play.ts";
import { UsageError } from "../exit-code.ts";
import { assertSandbox, localMachine } from "../local-machine.ts";
import { plural } from "../render/numbers.ts";

const example = join(import.meta.dirname, "../../../examples/csv-report");

interface Options {
  readonly yes?: true;
  readonly no?: true;
  readonly output: string;
  readonly keepDataDir?: true;
  readonly dataDir?: string;
  readonly listen: string;
}

/** Shows everything in one go: a run with tools in a sandbox, an approval and a report. */
export function demoCommand(cli: Cli): Command {
  const command = new Command("demo")
    .description("summarize a CSV file: a run with tools in a sandbox, an approval and a report")
    .argument("[file]", "the CSV file", join(example, "sales.csv"))
    .option("--yes", "approve without asking")
    .option("--no", "reject without asking: nothing is published")
    .option("-o, --output <path>", "where the report goes", "report.md")
    .option("--listen <host:port>", "where the server of the demo listens", "127.0.0.1:0")
    .option("--keep-data-dir", "leave what the server stored");
  return command.action(async (file: string) => {
    const options = command.optsWithGlobals<Options>();
    const deciding = decidingOf(cli, options);
    await checkReportPath(options.output);
    const { rows, columns } = await checkDemoFile(file);
    cli.terminal.note(`${file}: ${plural(rows, "row")}, ${plural(columns, "column")}\n`);
    await using resources = new AsyncDisposableStack();
    const dataDir = await openDemoDir(options, resources);
    const { environment, signal } = cli;
    const embedded = resources.use(
      await localMachine(
        {
          listen: options.listen,
          dataDir,
          settings: environment,
          log: createLogger("reeve", environment["REEVE_LOG_LEVEL"] || "error"),
        },
        signal,
      ),
    );
    assertSandbox(embedded);
    const reeve = resources.use(openReeve({ url: embedded.url, token: embedded.token }));
    cli.url = embedded.url;
    cli.exitCode = await playDemo(cli, reeve, {
      agentFile: join(example, "agent.yaml"),
      csvFile: file,
      reportPath: options.output,
      deciding,
    });
    if (options.keepDataDir === true) cli.terminal.note(`everything is kept in ${dataDir}\n`);
  });
}

/** Who decides is known before anything starts. */
function decidingOf({ terminal }: Cli, { yes, no }: Options): Deciding {
  if (yes === true && no === true) throw new UsageError("--yes and --no exclude each other");
  if (yes === true) return "approve";
  if (no === true) return "reject";
  if (terminal.isInteractive) return "ask";
  throw new UsageError("the demo asks for an approval and there is no terminal: say --yes or --no");
}

/** A folder of its own, so that a demo never meets a server that runs; gone afterwards unless it is wanted. */
async function openDemoDir(options: Options, resources: AsyncDisposableStack): Promise<string> {
  if (options.dataDir !== undefined) return resolve(options.dataDir);
  const folder = await mkdtemp(join(tmpdir(), "reeve-demo-"));
  // Sandboxes run as another user and must get to their workspace.
  await chmod(folder, 0o711);
  if (options.keepDataDir === undefined) {
    resources.defer(() => rm(folder, { recursive: true, force: true }));
  }
  return folder;
}
