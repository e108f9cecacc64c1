import { readFile, writeFile } from "node:fs/promises";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { withClient } from "../../context.ts";
import type { ExitCode } from "../../exit-code.ts";
import { exitCodes } from "../../exit-code.ts";
import type { RecordedCases } from "./cases-of-runs.ts";
import type { EvalResults } from "./run-eval.ts";

/** Grades the answers of agents. */
export function evalCommand(context: Context): Command {
  return new Command("eval")
    .description("Run an agent on a set of inputs, and grade its answers.")
    .addCommand(runCommand(context));
}

interface RunOptions {
  readonly baseline?: string;
  readonly output?: string;
  readonly json?: true;
  readonly allowGone?: true;
}

function runCommand(context: Context): Command {
  const command = new Command("run")
    .description(
      "Run the cases of an eval. Exits with 1 if one fails; with --baseline, only if one fails that passed there, or is gone.",
    )
    .argument("<file>", "the eval, as YAML or JSON")
    .option("-o, --output <file>", "write the results to this file")
    .option("--baseline <file>", "results of an earlier eval to compare with")
    .option("--allow-gone", "with --baseline, do not fail for cases that are gone")
    .option("--json", "print the results as JSON");
  return command.action(async (path: string, options: RunOptions) => {
    // Other commands do not wait for these modules.
    const { readEvalFile } = await import("./eval-file.ts");
    const file = await readEvalFile(path);
    const baseline =
      options.baseline === undefined ? undefined : await readResults(options.baseline);
    await withClient(context, command, async (reeve) => {
      const { runEval } = await import("./run-eval.ts");
      const { signal, terminal } = context;
      let count = 0;
      const onResult = ({ id, passed }: { readonly id: string; readonly passed: boolean }) => {
        count += 1;
        if (options.json !== true) terminal.note(`${count} ${id} ${passed ? "pass" : "FAIL"}\n`);
      };
      const onRecorded = ({ cases, runsRead }: RecordedCases) => {
        const limit = file.from_runs?.limit ?? 0;
        if (cases.length === limit) return;
        const found = `${cases.length} of ${limit} cases`;
        terminal.note(`from_runs: ${found}; read the last ${runsRead} runs that match\n`);
      };
      const results = await runEval(reeve, file, { signal, onRecorded, onResult });
      if (options.output !== undefined) await write(options.output, results);
      const { json = false, allowGone = false } = options;
      return await report(context, results, { baseline, json, allowGone });
    });
  });
}

async function report(
  { terminal }: Context,
  results: EvalResults,
  {
    baseline,
    json,
    allowGone,
  }: {
    readonly baseline: EvalResults | undefined;
    readonly json: boolean;
    readonly allowGone: boolean;
  },
): Promise<ExitCode> {
  const { compareEvals } = await import("./compare-evals.ts");
  const { renderChanges, renderResults } = await import("./render-eval.ts");
  const changes = baseline === undefined ? [] : compareEvals(baseline, results);
  if (json)
    terminal.out(`${JSON.stringify(baseline === undefined ? results : { ...results, changes })}\n`);
  else {
    terminal.out(renderResults(results));
    if (baseline !== undefined) terminal.out(`\n${renderChanges(changes)}`);
  }
  const isBad =
    baseline === undefined
      ? results.cases.some(({ passed }) => !passed)
      : changes.some(({ change }) => change === "regressed" || (change === "gone" && !allowGone));
  return isBad ? exitCodes.failed : exitCodes.ok;
}

async function write(path: string, results: EvalResults): Promise<void> {
  await writeFile(path, `${JSON.stringify(results, null, 2)}\n`).catch((cause: unknown) => {
    const message = `${path} cannot be written`;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
  });
}

async function readResults(path: string): Promise<EvalResults> {
  const { parseYamlFile } = await import("@reeve/platform/process/parse-yaml-file");
  const { evalResults } = await import("./run-eval.ts");
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    const message = `${path} cannot be read; write one with --output`;
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
  });
  return parseYamlFile(text, path, evalResults);
}
