import { readFile } from "node:fs/promises";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { parseYamlFile } from "@reeve/platform/process/parse-yaml-file";
import { z } from "zod";
import { maxCodeSeconds } from "./code-grader-agent.ts";

const id = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "is not an id: a-z, 0-9, and -, at most 63");
const threshold = z.number().min(0).max(1).default(0.5);

const pattern = z
  .string()
  .max(10_000)
  .superRefine((text, context) => {
    try {
      RegExp(text, "u");
    } catch {
      context.addIssue("is not a regular expression");
    }
  });

const codeGrader = z.strictObject({
  name: id,
  /** Python that defines `grade(input, answer, expected)`. */
  python: z.string().min(1).max(60_000),
  /** The lowest score that passes, from 0 to 1. */
  threshold,
  /** How long the code may take with the start of its sandbox, in seconds. */
  timeout_s: z.number().int().min(1).max(maxCodeSeconds).default(60),
});

/** What judges an answer. Each has exactly one of these members. */
const grader = z.union(
  [
    z.strictObject({ contains: z.string().min(1) }),
    z.strictObject({ not_contains: z.string().min(1) }),
    z.strictObject({ matches: pattern }),
    z.strictObject({ json_schema: z.record(z.string(), z.json()) }),
    z.strictObject({ model: z.strictObject({ agent: id, rubric: z.string().min(1), threshold }) }),
    z.strictObject({ code: codeGrader }),
  ],
  "has to be one of contains, not_contains, matches, json_schema, model, and code",
);

const evalCase = z.strictObject({
  id,
  input: z.string().min(1),
  /** What graders that run code compare with. Default: null. */
  expected: z.json().optional(),
  graders: z.array(grader).max(50).default([]),
});

const selectedRuns = z.strictObject({
  agent: id.optional(),
  labels: z.record(z.string(), z.string()).optional(),
  started_by: z.string().optional(),
  text: z.string().optional(),
  limit: z.number().int().min(1).max(1_000).default(20),
});

const evalFile = z
  .strictObject({
    name: id,
    agent: id,
    /** How many runs are open at a time. */
    concurrency: z.number().int().min(1).max(32).default(4),
    /** How long a run may take, in seconds. */
    timeout_s: z.number().int().min(1).max(86_400).default(600),
    /** The graders of every case, besides its own. */
    graders: z.array(grader).max(50).default([]),
    cases: z.array(evalCase).max(10_000).default([]),
    /** Further cases: the inputs of runs that completed. */
    from_runs: selectedRuns.optional(),
  })
  .superRefine(({ cases, graders, from_runs }, context) => {
    if (cases.length === 0 && from_runs === undefined) {
      context.addIssue("has no cases; add `cases` or `from_runs`");
    }
    const seen = new Set<string>();
    for (const [index, each] of cases.entries()) {
      if (seen.has(each.id)) {
        context.addIssue({ code: "custom", path: ["cases", index, "id"], message: "is repeated" });
      }
      seen.add(each.id);
      if (graders.length + each.graders.length > 0) continue;
      const message = "has no grader; add one here, or to the `graders` of the file";
      context.addIssue({ code: "custom", path: ["cases", index, "graders"], message });
    }
    if (from_runs !== undefined && graders.length === 0) {
      const message = "needs `graders` of the file, because its cases have none";
      context.addIssue({ code: "custom", path: ["from_runs"], message });
    }
  });

export type EvalFile = z.infer<typeof evalFile>;
export type CodeGrader = z.infer<typeof codeGrader>;
export type Grader = z.infer<typeof grader>;
export type EvalCase = z.infer<typeof evalCase>;
export type SelectedRuns = z.infer<typeof selectedRuns>;

/** Reads an eval. Throws a Failure that lists everything that is wrong with the file, with lines. */
export async function readEvalFile(path: string): Promise<EvalFile> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Failure("invalid", ErrorReason.INVALID_REQUEST, `${path} cannot be read`, { cause });
  });
  return parseYamlFile(text, path, evalFile);
}
