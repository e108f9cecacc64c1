import { createHash } from "node:crypto";
import type { Client, Run } from "@reeve/client";
import { EventFamily, ReeveError, RunStatus } from "@reeve/client";
import { codeGraderId } from "./code-grader-agent.ts";
import type { EvalCase, SelectedRuns } from "./eval-file.ts";

/** How many runs are listed. */
const maxRuns = 10_000;
/** The maximum number of runs to read for each case of the limit. Each takes a request. */
const maxRunsPerCase = 10;

/** The cases of recorded runs. */
export interface RecordedCases {
  readonly cases: readonly EvalCase[];
  /** How many runs were read. */
  readonly runsRead: number;
}

/**
 * Returns the inputs of the last completed runs as cases, at most `limit` different ones of the last ten times as many runs. The id of a
 * case follows from its input, so that evals at different times compare the same cases. Runs of evals are left out, unless their label
 * is asked for.
 */
export async function casesOfRuns(
  reeve: Client,
  { agent, labels = {}, started_by, text, limit }: SelectedRuns,
  signal: AbortSignal,
): Promise<RecordedCases> {
  const filter = {
    labels,
    ...(started_by !== undefined && { startedBy: started_by }),
    ...(text !== undefined && { text }),
  };
  const statuses = [RunStatus.COMPLETED];
  const options = { agentId: agent, statuses, filter, limit: maxRuns, signal };
  const cases = new Map<string, EvalCase>();
  let runsRead = 0;
  for await (const run of reeve.listRuns(options)) {
    if (isOfEval(run) && !Object.hasOwn(labels, "eval")) continue;
    // Graders have the labels of the eval, too.
    if (run.agentId === codeGraderId) continue;
    runsRead += 1;
    const input = (await inputOf(reeve, run.runId, signal)) ?? "";
    // A run without a text has files or messages only.
    if (input !== "") cases.set(input, { id: caseIdOf(input), input, graders: [] });
    if (cases.size === limit || runsRead === limit * maxRunsPerCase) break;
  }
  return { cases: [...cases.values()], runsRead };
}

function isOfEval({ labels }: Run): boolean {
  return Object.hasOwn(labels, "eval");
}

function caseIdOf(input: string): string {
  return `input-${createHash("sha256").update(input).digest("hex").slice(0, 16)}`;
}

/** Returns the input of a run. Undefined: it has none, or was deleted. */
async function inputOf(
  reeve: Client,
  runId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const families = [EventFamily.RECORD];
    for await (const { event } of reeve.watch(runId, { families, signal })) {
      if (event.case === "runCreated") return event.value.input;
    }
  } catch (error) {
    // The list of runs follows deletions with a delay.
    if (!(error instanceof ReeveError) || error.reason !== "RUN_NOT_FOUND") throw error;
  }
  return undefined;
}
