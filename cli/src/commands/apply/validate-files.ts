import type { Agent, AgentSpec, Client, ModelRegistry } from "@reeve/client";
import { ReeveError } from "@reeve/client";
import { forEach } from "@reeve/platform/async/for-each";
import type { Violation } from "@reeve/platform/failure";
import { mergeViolations } from "@reeve/platform/strict/merge-violations";
import type { PlannedFile } from "./apply-plan.ts";
import { reachableFrom } from "./delegate-order.ts";
import type { FileProblem, ReadAgentFile } from "./read-agent-files.ts";

/** How many files the server validates at a time. */
const maxConcurrent = 4;
/** More agents than a run can reach are refused, so that further ones change nothing. */
const maxOthers = 40;

export interface ValidatedFiles {
  /** The files without problems, in the form in which they are stored. */
  readonly valid: readonly PlannedFile[];
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly string[];
}

/** What is on the server before the files are applied. */
interface Before {
  readonly stored: readonly Agent[];
  /** The models and providers that are stored before the agents. Undefined: those that are stored now. */
  readonly registry: ModelRegistry | undefined;
}

/** Has the server validate each file together with the other files that its agent can reach, and stores nothing. */
export async function validateFiles(
  reeve: Client,
  files: readonly ReadAgentFile[],
  { stored, registry }: Before,
  signal: AbortSignal,
): Promise<ValidatedFiles> {
  const specs = new Map(files.map(({ spec }) => [spec.id, spec]));
  const known = new Map<string, AgentSpec>([
    ...stored.flatMap(({ spec }) => (spec === undefined ? [] : [[spec.id, spec] as const])),
    ...specs,
  ]);
  const results = new Map<ReadAgentFile, ValidatedFiles>();
  const work = async (each: ReadAgentFile, until: AbortSignal) => {
    const reachable = reachableFrom(each.spec.id, known).slice(0, maxOthers);
    const others = reachable.flatMap((id) => specs.get(id) ?? []);
    results.set(each, await validateFile(reeve, each, { others, registry }, until));
  };
  await forEach(
    {
      items: async function* () {
        yield* files;
      },
      max: maxConcurrent,
      work,
    },
    signal,
  );
  // In the order of the files, whichever was answered first.
  const all = files.flatMap((file) => results.get(file) ?? []);
  return {
    valid: all.flatMap(({ valid }) => valid),
    problems: all.flatMap(({ problems }) => problems),
    warnings: all.flatMap(({ warnings }) => warnings),
  };
}

async function validateFile(
  reeve: Client,
  { file, spec, shape }: ReadAgentFile,
  context: Pick<Before, "registry"> & { readonly others: readonly AgentSpec[] },
  signal: AbortSignal,
): Promise<ValidatedFiles> {
  const checked = await reeve.agents
    .validate(spec, { ...context, signal })
    .catch((error: unknown) => {
      // The request itself was refused.
      const violations = error instanceof ReeveError ? refusalsOf(error) : [];
      if (violations.length === 0) throw error;
      return { violations, warnings: [], normalized: undefined };
    });
  // The validation of the other file reports what is wrong with it.
  const own = checked.violations.filter(({ field }) => !field.startsWith("others["));
  const violations = mergeViolations(shape, own);
  const problems = violations.map(({ field, description, reason }) => ({
    file,
    field,
    description,
    reason,
  }));
  const warnings = checked.warnings.map((warning) => `${file}: ${warning}`);
  const { normalized } = checked;
  const valid =
    problems.length === 0 && normalized !== undefined ? [{ file, spec: normalized }] : [];
  return { valid, problems, warnings };
}

/** Returns what a refused request says about its file. Empty: it says nothing, as without a permission. */
function refusalsOf({
  isTransient,
  violations,
  reason,
  message,
}: ReeveError): readonly Violation[] {
  if (isTransient || violations.length > 0) return isTransient ? [] : violations;
  if (reason !== "TOO_LARGE") return [];
  const description = `the agent and those that it can call are too large together: ${message}`;
  return [{ field: "", description, reason }];
}
