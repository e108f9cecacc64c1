import { randomUUID } from "node:crypto";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { applyAgent, readSpec } from "../apply-agent.ts";
import { patient } from "../back-off.ts";
import type { Cli } from "../cli.ts";
import type { Reeve } from "../client.ts";
import { openDownload, saveDownload } from "../download.ts";
import type { ExitCode } from "../exit-code.ts";
import { exitCodes } from "../exit-code.ts";
import { formatMs } from "../render/numbers.ts";
import type { RunTimes } from "../run-times.ts";
import { addTimes, noTimes } from "../run-times.ts";
import { uploadFile } from "../upload.ts";
import { watchRun } from "../watch-run.ts";
import type { Deciding } from "./decide.ts";
import { decide } from "./decide.ts";

export interface DemoOptions {
  /** The spec of the agent. */
  readonly agentFile: string;
  readonly csvFile: string;
  /** Where the report is written. */
  readonly reportPath: string;
  readonly deciding: Deciding;
}

/** Plays the demo against a server: agent, upload, run, approval, download. */
export async function playDemo(
  cli: Pick<Cli, "terminal" | "signal">,
  reeve: Reeve,
  { agentFile, csvFile, reportPath, deciding }: DemoOptions,
): Promise<ExitCode> {
  const { terminal, signal } = cli;
  const { agentId } = await applyAgent(reeve, await readSpec(agentFile), signal);
  const file = { path: csvFile, name: "data.csv" };
  const { artifactId } = await uploadFile(reeve, file, "text/csv", signal);
  const { run } = await reeve.runs.startRun(
    {
      agentId,
      input: "Summarize data.csv and publish the report.",
      requestId: randomUUID(),
      files: [{ artifactId, path: "data.csv" }],
    },
    { signal },
  );
  const runId = run?.runId ?? "";
  let times = noTimes;
  let refusals = 0;
  const onEvent = async (event: RunEvent): Promise<void> => {
    times = addTimes(times, event);
    if (event.event.case !== "approval") return;
    const { approval } = event.event.value;
    if (approval?.state === ApprovalState.REJECTED) refusals += 1;
    if (approval?.state === ApprovalState.PENDING) await decide(cli, reeve, approval, deciding);
  };
  const watch = { runId, after: 0, json: false, all: true, backOff: patient };
  const code = await watchRun(cli, reeve, watch, onEvent);
  if (code !== exitCodes.ok) return code;
  const { artifacts } = await reeve.artifacts.listArtifacts({ runId }, { signal });
  const report = artifacts.at(-1);
  if (report === undefined) {
    terminal.out(`\n${refusals > 0 ? "As you decided, no" : "No"} report was published.\n`);
    terminal.out(describeTimes(times));
    return refusals > 0 ? exitCodes.ok : exitCodes.failed;
  }
  await saveDownload(await openDownload(reeve, report.artifactId, signal), reportPath, signal);
  terminal.out(`\nThe report is in ${terminal.colours.bold(reportPath)}\n${describeTimes(times)}`);
  return exitCodes.ok;
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
