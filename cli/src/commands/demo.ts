import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Command } from "commander";
import type { Context } from "../context.ts";
import { openClient } from "../context.ts";
import type { DecisionMode } from "../decisions/decide.ts";
import { checkDemoFile, checkReportPath } from "../demo/demo-file.ts";
import { freePath } from "../demo/free-path.ts";
import { playDemo } from "../demo/play-demo.ts";
import { ensureConsole, hasConsole } from "../embedded/ensure-console.ts";
import { assertSandbox, startOnThisMachine } from "../embedded/start-on-this-machine.ts";
import { exitCodes, UsageError } from "../exit-code.ts";
import { reeveCommand } from "../reeve-command.ts";
import { consoleUrl } from "../render/console-url.ts";
import { plural } from "../render/numbers.ts";

const example = join(import.meta.dirname, "../../../examples/csv-report");

interface Options {
  readonly yes?: true;
  readonly no?: true;
  readonly output?: string;
  readonly keepDataDir?: true;
  readonly dataDir?: string;
  readonly listen: string;
}

/** Demonstrates a run with tools in a sandbox, an approval, and a report. */
export function demoCommand(context: Context): Command {
  const command = new Command("demo")
    .description(
      "Summarize a CSV file, with tools in a sandbox and an approval.\n\n" +
        "Starts a server for the demo, and stops it at the end.",
    )
    .argument("[file]", "CSV file (default: an example with sales)")
    .option("--yes", "approve without asking")
    .option("--no", "reject without asking; no report is published")
    .option("-o, --output <path>", "where to write the report (default: report.md, or a new name)")
    .option("--listen <host:port>", "listen address of the server", "127.0.0.1:0")
    .option("--keep-data-dir", "keep the data of the server");
  return command.action(async (file = join(example, "sales.csv")) => {
    const options = command.optsWithGlobals<Options>();
    const mode = decisionMode(context, options);
    const reportPath = options.output ?? freePath("report.md");
    await checkReportPath(reportPath);
    const { rows, columns } = await checkDemoFile(file);
    context.terminal.note(`${file}: ${plural(rows, "row")}, ${plural(columns, "column")}\n`);
    await using resources = new AsyncDisposableStack();
    const folder = await openDemoDir(options, resources);
    const { environment, signal } = context;
    // Loaded only now, so that other commands start faster.
    const { createLogger } = await import("@reeve/platform/telemetry/logger");
    const log = createLogger("reeve", environment["REEVE_LOG_LEVEL"] || "error");
    await ensureConsole(environment, (text) => context.terminal.note(text), signal);
    const embedded = resources.use(
      await startOnThisMachine(
        { listen: options.listen, dataDir: folder.path, settings: environment, log },
        signal,
      ),
    );
    assertSandbox(embedded);
    const reeve = resources.use(openClient(embedded));
    context.url = embedded.url;
    context.reeve = reeveCommand({ dataDir: folder.path }, environment);
    if (context.terminal.isInteractive && hasConsole(environment)) {
      context.terminal.note(`in a browser: ${consoleUrl(embedded.url, embedded.token)}\n`);
    }
    context.exitCode = await playDemo(context, reeve, {
      agentFile: join(example, "agent.yaml"),
      csvFile: file,
      reportPath,
      mode,
      listen: options.listen,
    });
    // A run that was interrupted can be continued.
    folder.isKept ||= context.exitCode === exitCodes.interrupted;
    if (folder.isKept) context.terminal.note(`the data is in ${folder.path}\n`);
  });
}

/** Reads who decides, before anything starts. */
function decisionMode({ terminal }: Context, { yes, no }: Options): DecisionMode {
  if (yes === true && no === true) throw new UsageError("use either --yes or --no, not both");
  if (yes === true) return "approve";
  if (no === true) return "reject";
  if (terminal.isInteractive) return "ask";
  throw new UsageError(
    "the demo asks for an approval, but there is no terminal; use --yes or --no",
  );
}

/**
 * Creates a temporary folder, so that the demo does not affect a running server. Deleted at the end, unless the user keeps it or
 * interrupts the run.
 */
async function openDemoDir(options: Options, resources: AsyncDisposableStack): Promise<DemoDir> {
  if (options.dataDir !== undefined) return { path: resolve(options.dataDir), isKept: true };
  const path = await mkdtemp(join(tmpdir(), "reeve-demo-"));
  // Sandboxes run as another user, who needs access to the workspace.
  await chmod(path, 0o711);
  const folder = { path, isKept: options.keepDataDir === true };
  resources.defer(async () => {
    if (!folder.isKept) await rm(path, { recursive: true, force: true });
  });
  return folder;
}

interface DemoDir {
  readonly path: string;
  /** Whether the folder remains after the demo. */
  isKept: boolean;
}
