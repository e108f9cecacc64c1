import type { ApprovalPolicy, DecisionAlternative } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { alternativeName, escalationName } from "./alternative-name.ts";
import { breakGlassProblems } from "./break-glass-problems.ts";
import { escalationProblems } from "./escalation-problems.ts";
import { filterProblem } from "./filter-problem.ts";
import { isUnknownRole } from "./unknown-role.ts";
import { reviewerProblems } from "./reviewer.ts";
import { waitProblems } from "./wait-of.ts";

/**
 * Returns the violations of a policy: filters that cannot be read, alternatives that nobody can reach, waits after which nobody can
 * approve any more, and escalations that never happen.
 */
export function deciderProblems(policy: ApprovalPolicy | undefined): readonly Violation[] {
  return policy === undefined
    ? []
    : [
        ...alternativeProblems(policy),
        ...waitProblems(policy),
        ...escalationProblems(policy),
        ...breakGlassProblems(policy),
        ...reviewerProblems(policy),
      ];
}

function alternativeProblems({ alternatives, escalations }: ApprovalPolicy): readonly Violation[] {
  const seen = new Set<string>();
  const listed = alternatives.flatMap((alternative, index) =>
    problemsOf(alternative, {
      field: `approval_policy.alternatives[${index}]`,
      name: alternativeName(alternative, index),
      seen,
    }),
  );
  const later = escalations.flatMap(({ alternative }, index) =>
    alternative === undefined
      ? []
      : problemsOf(alternative, {
          field: `approval_policy.escalations[${index}].alternative`,
          name: escalationName(alternative, index),
          seen,
        }),
  );
  return [...listed, ...later];
}

interface Place {
  readonly field: string;
  readonly name: string;
  /** The names of earlier alternatives. */
  readonly seen: Set<string>;
}

function problemsOf(
  alternative: DecisionAlternative,
  { field, name, seen }: Place,
): readonly Violation[] {
  const violation = (part: string, description: string, reason = "MALFORMED"): Violation => ({
    field: `${field}.${part}`,
    description,
    reason,
  });
  const repeated = seen.has(name) ? [violation("name", `"${name}" is used twice`)] : [];
  seen.add(name);
  const problem = alternative.filter === "" ? undefined : filterProblem(alternative.filter);
  const groups = alternative.groups.filter(isUnknownRole);
  return [
    ...repeated,
    ...(problem === undefined ? [] : [violation("filter", problem)]),
    ...groups.map((group) => violation("groups", `"${group}" names no role`)),
    ...unreachable(alternative).map(([part, text]) => violation(part, text, "UNSATISFIABLE")),
  ];
}

/** The number of members of a group is not known. */
function unreachable({
  people,
  groups,
  approvals,
  denials,
}: DecisionAlternative): readonly (readonly [string, string])[] {
  if (people.length === 0 || groups.length > 0) return [];
  const count = new Set(people).size;
  const needed = [
    ["approvals", approvals],
    ["denials", denials],
  ] as const;
  return needed
    .filter(([, threshold]) => threshold > count)
    .map(([part, threshold]) => [
      part,
      `needs ${threshold} people, but \`people\` has ${count} and there are no groups`,
    ]);
}

/** Returns why nobody can approve by an alternative without these subjects, or undefined. */
export function unreachableWithout(
  alternatives: readonly DecisionAlternative[],
  excluded: ReadonlySet<string>,
): string | undefined {
  const isReachable = ({ people, groups, approvals }: DecisionAlternative) =>
    groups.length > 0 ||
    people.length === 0 ||
    people.filter((person) => !excluded.has(person)).length >= Math.max(approvals, 1);
  if (alternatives.length === 0 || alternatives.some(isReachable)) return undefined;
  return `approval_policy: nobody can approve, because ${[...excluded].join(" and ")} may not, and too few other people are named; add people or a group`;
}
