import type { Client } from "@reeve/client";
import { RunStatus } from "@reeve/client";
import { ErrorReason } from "@reeve/contracts/error";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import type { RecordedCases } from "./cases-of-runs.ts";
import { casesOfRuns } from "./cases-of-runs.ts";
import { ensureCodeGrader } from "./code-grader-agent.ts";
import type { EvalCase, EvalFile } from "./eval-file.ts";
import { grade } from "./grade.ts";
import type { RunLimits } from "./run-agent.ts";
import { runAgent } from "./run-agent.ts";

const caseResult = z.strictObject({
  id: z.string(),
  run_id: z.string(),
  passed: z.boolean(),
  /** Why the run did not complete; empty if it did. */
  problem: z.string(),
  grades: z.array(
    z.strictObject({
      name: z.string(),
      passed: z.boolean(),
      detail: z.string(),
      /** Whether the grader failed, so that the answer was not judged. */
      error: z.literal(true).optional(),
    }),
  ),
  /** Undefined: the price of its model is not known. */
  cost_usd: z.number().optional(),
  duration_ms: z.number(),
});

/** The content of a file of results. */
export const evalResults = z.strictObject({
  format: z.literal(1),
  name: z.string(),
  agent: z.string(),
  started_at: z.string(),
  cases: z.array(caseResult),
});

export type CaseResult = z.infer<typeof caseResult>;
export type EvalResults = z.infer<typeof evalResults>;

/** What is told while an eval runs. */
export interface EvalProgress {
  readonly signal: AbortSignal;
  /** Gets the cases of recorded runs before the first case runs. Not called for an eval without `from_runs`. */
  onRecorded(recorded: RecordedCases): void;
  /** Gets each result when it is there. */
  onResult(result: CaseResult): void;
}

/** Runs the cases of an eval, several at a time, and grades their answers. Throws a Failure if the eval has no cases. */
export async function runEval(
  reeve: Client,
  file: EvalFile,
  { signal, ...progress }: EvalProgress,
): Promise<EvalResults> {
  const started_at = new Date().toISOString();
  const fromRuns = file.from_runs && (await casesOfRuns(reeve, file.from_runs, signal));
  if (fromRuns !== undefined) progress.onRecorded(fromRuns);
  const recorded = fromRuns?.cases ?? [];
  if (file.cases.length + recorded.length === 0) throw noCases(file.name);
  const graders = [file, ...file.cases].flatMap((each) => each.graders);
  if (graders.some((each) => "code" in each)) await ensureCodeGrader(reeve, signal);
  const permits = new Semaphore(file.concurrency);
  const end = new AbortController();
  const limits = {
    timeoutMs: file.timeout_s * 1_000,
    signal: AbortSignal.any([signal, end.signal]),
  };
  const run = async (each: EvalCase) => {
    using _ = await permits.acquire(limits.signal);
    const result = await runCase(reeve, file, each, limits);
    progress.onResult(result);
    return result;
  };
  const own = new Set(file.cases.map(({ id }) => id));
  const running = [...file.cases, ...recorded.filter(({ id }) => !own.has(id))].map((each) =>
    run(each).catch((error: unknown) => {
      // The first error is that of the eval; the other runs are cancelled.
      end.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(running);
  const cases = await Promise.all(running);
  return { format: 1, name: file.name, agent: file.agent, started_at, cases };
}

async function runCase(
  reeve: Client,
  { agent, name, graders }: EvalFile,
  { id, input, expected = null, graders: own }: EvalCase,
  limits: RunLimits,
): Promise<CaseResult> {
  const startedMs = performance.now();
  const labels = { eval: name, eval_case: id };
  const { run, problem } = await runAgent(reeve, { agentId: agent, input, labels }, limits);
  const duration_ms = Math.round(performance.now() - startedMs);
  const isCompleted = run?.status === RunStatus.COMPLETED && problem === "";
  const grades = [];
  if (isCompleted) {
    const answer = { input, output: run.output, expected };
    for (const grader of [...graders, ...own]) {
      grades.push(await grade(reeve, grader, answer, { ...limits, labels }));
    }
  }
  const costUsd = run?.cost?.costUsd;
  return {
    id,
    run_id: run?.runId ?? "",
    passed: isCompleted && grades.every(({ passed }) => passed),
    problem,
    grades,
    ...(costUsd !== undefined && { cost_usd: costUsd }),
    duration_ms,
  };
}

function noCases(name: string): Failure {
  const message = `eval ${name} has no cases, because no completed run matches \`from_runs\`; add \`cases\`, or change it`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}
