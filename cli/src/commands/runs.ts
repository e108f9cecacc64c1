import { randomUUID } from "node:crypto";
import { Command, Option } from "commander";
import type { Run, RunStatus } from "@reeve/contracts/run";
import { OnBusy, RunSchema, RunStatusSchema } from "@reeve/contracts/run";
import { allPages } from "../all-pages.ts";
import { brief, patient, persistently } from "../back-off.ts";
import type { Cli } from "../cli.ts";
import { withReeve } from "../cli.ts";
import { UsageError } from "../exit-code.ts";
import { jsonLine } from "../json-line.ts";
import { parseLimit, parseSequence } from "../parse-option.ts";
import { formatCost } from "../render/numbers.ts";
import { oneLine } from "../render/plain-text.ts";
import { table } from "../render/table.ts";
import type { LocalFile } from "../upload.ts";
import { parseLocalFile, uploadFile } from "../upload.ts";
import { watchRun } from "../watch-run.ts";

/** The commands that start, show and end runs. */
export function runCommands(cli: Cli): readonly Command[] {
  return [runCommand(cli), listCommand(cli), watchCommand(cli), cancelCommand(cli)];
}

function runCommand(cli: Cli): Command {
  const command = new Command("run")
    .description("start a run of an agent")
    .argument("<agent>", "id of the agent")
    .argument("<prompt>", "what it is asked")
    .option("--watch", "show the run until it ends")
    .option("--file <path[=name]>", "a file for the run's workspace; may be repeated", collectFiles)
    .option("--thread <id>", "the conversation that it continues, or begins")
    .addOption(
      new Option(
        "--on-busy <what>",
        "what happens when a run of the thread is under way; default: reject",
      ).choices(Object.keys(onBusy)),
    )
    .option("--memory", "recall what is remembered of the user, and let the agent add to it")
    .option("--json", "the run, or with --watch its events, as JSON lines");
  interface Options {
    readonly thread?: string;
    readonly onBusy?: keyof typeof onBusy;
    readonly memory?: true;
    readonly watch?: true;
    readonly file?: readonly LocalFile[];
    readonly json?: true;
  }
  return command.action((agentId: string, input: string, options: Options) => {
    if (options.onBusy !== undefined && options.thread === undefined) {
      throw new UsageError("--on-busy means something only with --thread");
    }
    return withReeve(cli, command, async (reeve) => {
      const { signal, terminal } = cli;
      const files = [];
      for (const file of options.file ?? []) {
        const { artifactId } = await uploadFile(reeve, file, "", signal);
        files.push({ artifactId, path: file.name });
      }
      const request = {
        agentId,
        input,
        requestId: randomUUID(),
        files,
        memoryEnabled: options.memory === true,
        ...(options.thread !== undefined && {
          threadId: options.thread,
          onBusy: onBusy[options.onBusy ?? "reject"],
        }),
      };
      const start = () => reeve.runs.startRun(request, { signal });
      const { run } = await persistently(start, brief, signal);
      if (run === undefined) return;
      if (options.watch === undefined) {
        terminal.out(options.json === true ? jsonLine(RunSchema, run) : `${run.runId}\n`);
        return;
      }
      const watch = { runId: run.runId, after: 0, all: false, backOff: patient };
      return await watchRun(cli, reeve, { ...watch, json: options.json === true });
    });
  });
}

const onBusy = {
  reject: OnBusy.REJECT,
  queue: OnBusy.QUEUE,
  interrupt: OnBusy.INTERRUPT,
} as const;

function listCommand(cli: Cli): Command {
  const command = new Command("runs")
    .description("list runs, newest first")
    .option("--agent <id>", "only runs of this agent")
    .option("--thread <id>", "only runs of this thread")
    .option("--status <status>", "only runs that stand so, for example waiting")
    .option("--limit <number>", "at most this many", parseLimit, 20)
    .option("--json", "one run a line, as JSON");
  interface Options {
    readonly agent?: string;
    readonly thread?: string;
    readonly status?: string;
    readonly limit: number;
    readonly json?: true;
  }
  return command.action(({ agent, thread, status, limit, json }: Options) =>
    withReeve(cli, command, async (reeve) => {
      const filter = {
        agentId: agent ?? "",
        threadId: thread ?? "",
        statuses: status === undefined ? [] : [statusOf(status)],
      };
      const pages = allPages(async (pageToken) => {
        const page = { ...filter, pageToken, pageSize: Math.min(limit, 1_000) };
        const { runs, nextPageToken } = await reeve.runs.listRuns(page, { signal: cli.signal });
        return { items: runs, nextPageToken };
      }, limit);
      const runs = await Array.fromAsync(pages);
      if (json === true) for (const run of runs) cli.terminal.out(jsonLine(RunSchema, run));
      else if (runs.length === 0) cli.terminal.note("no runs\n");
      else cli.terminal.out(table(["RUN", "STATUS", "AGENT", "COST", "ASKED"], runs.map(rowOf)));
    }),
  );
}

function watchCommand(cli: Cli): Command {
  const command = new Command("watch")
    .description("show a run until it ends")
    .argument("<run>", "id of the run")
    .option("--after <sequence>", "go on after this event", parseSequence, 0)
    .option("--json", "one event a line, as JSON")
    .option("--all", "with --json: records too, which only the log itself needs");
  interface Options {
    readonly after: number;
    readonly json?: true;
    readonly all?: true;
  }
  return command.action((runId: string, { after, json, all }: Options) =>
    withReeve(cli, command, async (reeve) => {
      // Says at once when there is no server or no such run; the stream itself is patient.
      await persistently(() => reeve.runs.getRun({ runId }, cli), brief, cli.signal);
      const options = { runId, after, json: json === true, all: all === true, backOff: patient };
      return await watchRun(cli, reeve, options);
    }),
  );
}

function cancelCommand(cli: Cli): Command {
  const command = new Command("cancel")
    .description("cancel a run")
    .argument("<run>", "id of the run")
    .option("--reason <text>", "why", "");
  return command.action((runId: string, { reason }: { readonly reason: string }) =>
    withReeve(cli, command, async (reeve) => {
      const cancel = () => reeve.runs.cancelRun({ runId, reason }, { signal: cli.signal });
      await persistently(cancel, brief, cli.signal);
      cli.terminal.out(`${runId} cancelled\n`);
    }),
  );
}

function collectFiles(
  text: string,
  before: readonly LocalFile[] | undefined,
): readonly LocalFile[] {
  return [...(before ?? []), parseLocalFile(text)];
}

function statusOf(text: string): RunStatus {
  const known = RunStatusSchema.values.filter(({ number }) => number !== 0);
  const found = known.find(({ localName }) => localName.toLowerCase() === text.toLowerCase());
  // The numbers of the descriptor are the values of the enum.
  if (found !== undefined) return found.number as RunStatus;
  const names = known.map(({ localName }) => localName.toLowerCase()).join(", ");
  throw new UsageError(`"${text}" is no status: ${names}`);
}

function rowOf(run: Run): readonly string[] {
  const status = RunStatusSchema.value[run.status]?.localName.toLowerCase() ?? "unknown";
  return [
    run.runId,
    status,
    oneLine(run.agentId, 63),
    run.cost === undefined ? "" : formatCost(run.cost),
    oneLine(run.inputPreview, 60),
  ];
}
