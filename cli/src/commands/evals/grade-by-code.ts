import type { Client } from "@reeve/client";
import { RunStatus } from "@reeve/client";
import { z } from "zod";
import { codeGraderId } from "./code-grader-agent.ts";
import type { CodeGrader } from "./eval-file.ts";
import type { GradeLimits } from "./grade-by-model.ts";
import type { Grade, GradedAnswer } from "./graded-answer.ts";
import { runAgent } from "./run-agent.ts";

/** The longest input of a run. */
const maxBytes = 262_144;

const score = z.union([z.boolean(), z.number().min(0).max(1)]);
const verdict = z.union([
  score.transform((given) => ({ score: given, reason: "" })),
  z.tuple([score, z.string()]).transform(([given, reason]) => ({ score: given, reason })),
  z.strictObject({ score, reason: z.string().default("") }),
]);

/** What the sandbox says of code that failed. */
const failure = z.object({ stderr: z.string() });

/**
 * Lets code in the sandbox grade an answer. Code that crashes, takes too long, or returns something else than a verdict is an error of
 * the case: the answer does not pass by accident.
 */
export async function gradeByCode(
  reeve: Client,
  { python, threshold, timeout_s }: CodeGrader,
  { input, output, expected }: GradedAnswer,
  { labels, ...limits }: GradeLimits,
): Promise<Omit<Grade, "name">> {
  const given = JSON.stringify({ python, input, answer: output, expected });
  const bytes = Buffer.byteLength(given);
  if (bytes > maxBytes) {
    return failed(`code, input, answer, and expected value have ${bytes} of ${maxBytes} bytes`);
  }
  const request = { agentId: codeGraderId, input: given, labels };
  const timeoutMs = Math.min(limits.timeoutMs, timeout_s * 1_000);
  const { run, problem } = await runAgent(reeve, request, { ...limits, timeoutMs });
  const runId = run?.runId ?? "no run";
  if (run?.status !== RunStatus.COMPLETED) {
    return failed(`its code failed: ${exceptionIn(problem)} (${runId})`);
  }
  const parsed = verdict.safeParse(parsedOr(run.output));
  if (!parsed.success) {
    const rule = "return True, False, a score from 0 to 1, or a pair of one of them and a reason";
    return failed(`its code gave no verdict; ${rule} (${runId})`);
  }
  const { reason } = parsed.data;
  const value = Number(parsed.data.score);
  const shown = typeof parsed.data.score === "boolean" ? "" : String(value);
  return {
    passed: value >= threshold,
    detail: [shown, reason].filter((part) => part !== "").join(": "),
  };
}

function failed(detail: string): Omit<Grade, "name"> {
  return { passed: false, error: true, detail };
}

/** Returns the first line of the exception of Python that a problem of the run ends with, or the problem. */
function exceptionIn(problem: string): string {
  const report = failure.safeParse(parsedOr(problem.slice(problem.indexOf("{"))));
  const lines = report.data?.stderr.split("\n").filter((line) => line !== "") ?? [];
  // It follows the indented lines of the traceback, and may have more lines itself, also indented ones. Code with wrong syntax has no
  // heading.
  const heading = lines.findLastIndex((line) => line.startsWith("Traceback"));
  const start = heading === -1 ? lines.findLastIndex((line) => line.startsWith(" ")) : heading;
  return lines.slice(start + 1).find(isMessage) ?? lines.findLast(isMessage) ?? problem;
}

/** Whether a line is neither one of the traceback, nor a remark of the sandbox. */
function isMessage(line: string): boolean {
  return !line.startsWith("[") && !line.startsWith(" ");
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
