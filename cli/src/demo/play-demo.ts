import type { Client, RunEvent } from "@reeve/client";
import { ApprovalState } from "@reeve/client";
import type { DecisionMode } from "../decisions/decide.ts";
import type { DecisionContext } from "../decisions/decision-context.ts";
import type { ExitCode } from "../exit-code.ts";
import { exitCodes } from "../exit-code.ts";
import { readAgentFile } from "../files/agent-file.ts";
import { readLocalFile } from "../files/local-file.ts";
import { saveFile } from "../files/save-file.ts";
import { formatMs } from "../render/numbers.ts";
import { watchRun } from "../watch-run.ts";
import type { RunTimes } from "./run-times.ts";
import { addTimes, noTimes } from "./run-times.ts";

export interface DemoOptions {
  /** File with the agent spec. */
  readonly agentFile: string;
  readonly csvFile: string;
  /** Where to write the report. */
  readonly reportPath: string;
  readonly mode: DecisionMode;
  /** The address at which the user starts the server again. The usual one may belong to another server. */
  readonly listen: string;
}

/** Runs the demo against a server: applies the agent, uploads the file, runs it, decides, and downloads the report. */
export async function playDemo(
  context: DecisionContext,
  reeve: Client,
  { agentFile, csvFile, reportPath, mode, listen }: DemoOptions,
): Promise<ExitCode> {
  const { terminal, signal } = context;
  const { agent } = await reeve.agents.apply(await readAgentFile(agentFile), { signal });
  const content = await readLocalFile(csvFile);
  const upload = { name: "data.csv", mediaType: "text/csv", content };
  const { artifactId } = await reeve.upload(upload, { signal });
  const { runId } = await reeve.startRun(
    {
      agentId: agent.spec?.id ?? "",
      input: "Summarize data.csv and publish the report.",
      files: [{ artifactId, path: "data.csv" }],
    },
    { signal },
  );
  let times = noTimes;
  let rejections = 0;
  const onEvent = (event: RunEvent): void => {
    times = addTimes(times, event);
    const { approval } = event.event.case === "approval" ? event.event.value : {};
    if (approval?.state === ApprovalState.REJECTED) rejections += 1;
  };
  const onInterrupted = () => resumeHint(context.reeve, runId, listen);
  const watch = { runId, after: 0, json: false, all: true, decisions: mode, onInterrupted };
  const code = await watchRun(context, reeve, watch, onEvent);
  if (code !== exitCodes.ok) return code;
  const [report] = (await Array.fromAsync(reeve.listArtifacts({ runId, signal }))).slice(-1);
  if (report === undefined) {
    terminal.out(`\nNo report was published${rejections > 0 ? ", as you decided" : ""}.\n`);
    terminal.out(describeTimes(times));
    return rejections > 0 ? exitCodes.ok : exitCodes.failed;
  }
  const { chunks } = await reeve.download(report.artifactId, { signal });
  await saveFile(chunks, reportPath, signal);
  terminal.out(`\nThe report is in ${terminal.style("bold", reportPath)}\n${describeTimes(times)}`);
  return exitCodes.ok;
}

function resumeHint(reeve: string, runId: string, listen: string): string {
  return [
    "",
    "The run is stored, and stops with the server of the demo. To continue it, start the server again:",
    `  ${reeve} up --listen ${listen}`,
    "and in another terminal:",
    `  ${reeve} watch ${runId}`,
    "",
  ].join("\n");
}

function describeTimes({ totalMs, modelMs, toolMs, waitedMs }: RunTimes): string {
  const parts = [
    `${formatMs(totalMs)} in total`,
    `${formatMs(modelMs)} model`,
    `${formatMs(toolMs)} tools`,
    `${formatMs(waitedMs)} waiting for approval`,
  ];
  return `${parts.join(", ")}\n`;
}
