import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Run } from "@reeve/client";
import { OnBusy, RunSchema, RunStatusSchema } from "@reeve/contracts/run";
import { ExecutionTreeSchema } from "@reeve/contracts/thread";
import { Command, Option } from "commander";
import type { Context } from "../context.ts";
import { withClient } from "../context.ts";
import { UsageError } from "../exit-code.ts";
import { collectPaths, uploadAttachments } from "../files/attachments.ts";
import type { LocalFile } from "../files/local-file.ts";
import { parseLocalFile, readLocalFile } from "../files/local-file.ts";
import { incompleteName } from "../render/incomplete.ts";
import { jsonLine } from "../render/json-line.ts";
import { formatPrice } from "../render/numbers.ts";
import { parseJsonObject } from "../parse-json-object.ts";
import { oneLine } from "../render/plain-text.ts";
import { renderTree } from "../render/tree.ts";
import { watchRun } from "../watch-run.ts";
import { collectValues, parseLimit, parseSequence } from "./parse-option.ts";
import { printList } from "./print-list.ts";
import { collectLabels } from "./runs/labels.ts";
import type { RunFilterOptions } from "./runs/run-filter-options.ts";
import { addRunFilterOptions, selectedRuns } from "./runs/run-filter-options.ts";

export function runCommands(context: Context): readonly Command[] {
  return [
    runCommand(context),
    listCommand(context),
    watchCommand(context),
    cancelCommand(context),
    retryCommand(context),
    deleteCommand(context),
    treeCommand(context),
  ];
}

function runCommand(context: Context): Command {
  const command = new Command("run")
    .description("Start a run of an agent, and print its id.")
    .argument("<agent>", "id of the agent")
    .argument("<prompt>", "input of the run; - reads standard input")
    .option("--watch", "watch the run until it ends")
    .option(
      "--file <path[=name]>",
      "copy a local file into the workspace of the run (repeatable)",
      collectFiles,
    )
    .option(
      "--attach <path>",
      "send an image, a PDF, or audio to the model (repeatable)",
      collectPaths,
    )
    .option("--thread <id>", "thread to continue or to create")
    .addOption(
      new Option("--media <kind>", "generate media from the prompt, instead of an answer").choices([
        "image",
        "speech",
      ]),
    )
    .addOption(
      new Option(
        "--on-busy <action>",
        "what to do if the thread has an active run; default: reject",
      ).choices(Object.keys(onBusy)),
    )
    .option("--output-schema <path>", "file with the JSON Schema of the answer, an object in JSON")
    .option(
      "--label <name=value>",
      "label of the run, by which lists find it (repeatable)",
      collectLabels,
    )
    .option("--memory", "recall memories of the user, and let the agent add some")
    .option(
      "--knowledge <collection>",
      "collection of documents that the agent searches and cites (repeatable)",
      collectValues,
    )
    .option("--json", "print the run as JSON, or with --watch one event per line");
  interface Options {
    readonly thread?: string;
    readonly onBusy?: keyof typeof onBusy;
    readonly outputSchema?: string;
    readonly label?: Readonly<Record<string, string>>;
    readonly memory?: true;
    readonly media?: string;
    readonly knowledge?: readonly string[];
    readonly watch?: true;
    readonly file?: readonly LocalFile[];
    readonly attach?: readonly string[];
    readonly json?: true;
  }
  return command.action((agentId: string, input: string, options: Options) => {
    if (options.onBusy !== undefined && options.thread === undefined) {
      throw new UsageError("--on-busy requires --thread");
    }
    return withClient(context, command, async (reeve) => {
      const json = options.json === true;
      const files = [];
      for (const { path, name } of options.file ?? []) {
        const content = await readLocalFile(path);
        const { artifactId } = await reeve.upload({ name: basename(name), content }, context);
        files.push({ artifactId, path: name });
      }
      const parts = await uploadAttachments(reeve, options.attach ?? [], context);
      const outputSchema =
        options.outputSchema === undefined ? undefined : await readSchema(options.outputSchema);
      const request = {
        agentId,
        input: input === "-" ? await context.terminal.read() : input,
        files,
        parts,
        labels: { ...options.label },
        memoryEnabled: options.memory === true,
        collections: [...(options.knowledge ?? [])],
        ...(outputSchema && { outputSchema }),
        ...(options.media !== undefined && { mediaGeneration: { mode: options.media } }),
        ...(options.thread !== undefined && {
          threadId: options.thread,
          onBusy: onBusy[options.onBusy ?? "reject"],
        }),
      };
      const onWarning = (warning: string) => context.terminal.note(`warning: ${warning}\n`);
      const run = await reeve.startRun(request, { signal: context.signal, onWarning });
      if (options.watch === true) {
        return await watchRun(context, reeve, { runId: run.runId, after: 0, all: false, json });
      }
      context.terminal.out(json ? jsonLine(RunSchema, run) : `${run.runId}\n`);
    });
  });
}

async function readSchema(path: string): Promise<JsonObject> {
  const text = await readFile(path, "utf8").catch(() => "");
  const schema = parseJsonObject(text);
  if (schema !== undefined) return schema;
  throw new UsageError(
    `${path} is no file with a JSON object; --output-schema takes a JSON Schema`,
  );
}

const onBusy = {
  reject: OnBusy.REJECT,
  queue: OnBusy.QUEUE,
  interrupt: OnBusy.INTERRUPT,
} as const;

function listCommand(context: Context): Command {
  const command = addRunFilterOptions(new Command("runs").description("List runs, newest first."))
    .option(
      "--by-cost",
      "the most expensive first: at most 100 of the newest 10,000 runs, without those that called a model without a price",
    )
    .option("--limit <number>", "maximum number of runs", parseLimit, 20)
    .option("--json", "print one run per line as JSON");
  interface Options extends RunFilterOptions {
    readonly byCost?: true;
    readonly limit: number;
    readonly json?: true;
  }
  const format = {
    header: ["RUN", "STATUS", "AGENT", "COST", "INPUT"],
    row: rowOf,
    empty: "no runs",
  };
  return command.action(({ byCost, limit, json, ...options }: Options) =>
    withClient(context, command, async (reeve) => {
      const { terminal, signal } = context;
      const runs = reeve.listRuns({ ...selectedRuns(options), byCost, limit, signal });
      await printList(terminal, RunSchema, runs, format, json === true);
    }),
  );
}

function watchCommand(context: Context): Command {
  const command = new Command("watch")
    .description("Watch a run until it ends.")
    .argument("<run>", "id of the run")
    .option("--after <sequence>", "start after the event with this sequence", parseSequence, 0)
    .option("--json", "print one event per line as JSON")
    .option("--all", "with --json: include records, which only the log needs");
  interface Options {
    readonly after: number;
    readonly json?: true;
    readonly all?: true;
  }
  return command.action((runId: string, { after, json, all }: Options) =>
    withClient(context, command, async (reeve) => {
      // Fails at once if there is no server or no such run. The stream keeps trying to connect.
      await reeve.getRun(runId, context);
      const options = { runId, after, json: json === true, all: all === true };
      return await watchRun(context, reeve, options);
    }),
  );
}

function cancelCommand(context: Context): Command {
  const command = new Command("cancel")
    .description("Cancel a run.")
    .argument("<run>", "id of the run")
    .option("--reason <text>", "reason for the cancellation");
  return command.action((runId: string, { reason }: { readonly reason?: string }) =>
    withClient(context, command, async (reeve) => {
      await reeve.cancel(runId, reason, context);
      context.terminal.out(`${runId} cancelled\n`);
    }),
  );
}

function retryCommand(context: Context): Command {
  const command = new Command("retry")
    .description("Continue a run that failed in a new run, from its last good state.")
    .argument("<run>", "id of the run that failed")
    .option("--watch", "watch the new run until it ends")
    .option("--json", "print the new run as JSON, or with --watch one event per line");
  interface Options {
    readonly watch?: true;
    readonly json?: true;
  }
  return command.action((failed: string, { watch, json: asJson }: Options) =>
    withClient(context, command, async (reeve) => {
      const json = asJson === true;
      const run = await reeve.retryRun(failed, context);
      if (watch === true) {
        return await watchRun(context, reeve, { runId: run.runId, after: 0, all: false, json });
      }
      context.terminal.out(json ? jsonLine(RunSchema, run) : `${run.runId}\n`);
    }),
  );
}

function deleteCommand(context: Context): Command {
  const command = new Command("delete")
    .description("Delete a run that has ended, with its approvals, artifacts, and files.")
    .argument("<run>", "id of the run");
  return command.action((runId: string) =>
    withClient(context, command, async (reeve) => {
      const existed = await reeve.deleteRun(runId, context);
      context.terminal.out(existed ? `${runId} deleted\n` : `${runId} does not exist\n`);
    }),
  );
}

function treeCommand(context: Context): Command {
  const command = new Command("tree")
    .description("Show the tool calls and subtasks of a run.")
    .argument("<run>", "id of the run")
    .option("--json", "print the tree as JSON");
  return command.action((runId: string, { json }: { readonly json?: true }) =>
    withClient(context, command, async (reeve) => {
      const { terminal } = context;
      const tree = await reeve.getExecutionTree(runId, context);
      if (json === true) terminal.out(jsonLine(ExecutionTreeSchema, tree));
      else if (tree.nodes.length === 0) terminal.note("no tool calls\n");
      else terminal.out(renderTree(tree, terminal));
    }),
  );
}

function collectFiles(
  text: string,
  previous: readonly LocalFile[] | undefined,
): readonly LocalFile[] {
  return [...(previous ?? []), parseLocalFile(text)];
}

function rowOf(run: Run): readonly string[] {
  const status = RunStatusSchema.value[run.status]?.localName.toLowerCase() ?? "unknown";
  return [
    run.runId,
    [status, incompleteName(run.incompleteReason)].filter((word) => word !== "").join(", "),
    oneLine(run.agentId, 63),
    costOf(run),
    oneLine(run.inputPreview, 60),
  ];
}

/** What a run has cost, or costs so far. */
function costOf({ cost, spentUsd }: Run): string {
  if (cost !== undefined) return formatPrice(cost, "unknown");
  return spentUsd === undefined ? "" : `${formatPrice({ costUsd: spentUsd }, "")} so far`;
}
