import type { Problem } from "../../api/problem.ts";

/** The fields of the form, by the field of the API that a refusal names. */
const formFields = {
  "spec.trigger_id": "triggerId",
  "spec.agent_id": "agentId",
  "spec.input": "input",
  "spec.labels": "labels",
  "spec.on_overlap": "onOverlap",
  "spec.schedule.cron": "cron",
  "spec.schedule.time_zone": "timeZone",
  "spec.schedule.on_missed": "onMissed",
  "spec.schedule.max_missed": "onMissed",
  "spec.schedule.jitter": "jitterSeconds",
} as const;

type FormField = (typeof formFields)[keyof typeof formFields];

/** What is wrong with each field of the form, in words of the form. */
export type FieldProblems = Readonly<Partial<Record<FormField, string>>>;

const idRule =
  "may have lower-case letters, digits, and hyphens, at most 63, and begins with a letter or a digit";

interface TriggerProblem {
  readonly fields: FieldProblems;
  /** What belongs to no field. Undefined: the fields say everything. */
  readonly rest: Problem | undefined;
}

/** Divides a refusal into what is shown at the fields of the form, and the rest. */
export function divideProblem(problem: Problem | undefined): TriggerProblem {
  if (problem === undefined) return { fields: {}, rest: undefined };
  const fields: Partial<Record<FormField, string>> = {};
  const violations = problem.violations.filter(({ field, description }) => {
    const shown = formFieldOf(field);
    if (shown === undefined) return true;
    const isId = shown === "triggerId" || shown === "agentId";
    const text = isId && description.includes("pattern") ? idRule : description;
    fields[shown] = fields[shown] === undefined ? text : `${fields[shown]}; ${text}`;
    return false;
  });
  const isDivided = violations.length < problem.violations.length;
  if (!isDivided) return { fields, rest: problem };
  return { fields, rest: violations.length === 0 ? undefined : { ...problem, violations } };
}

function formFieldOf(field: string): FormField | undefined {
  return Object.entries(formFields).find(
    // A violation of a label names its key: `spec.labels["team"]`.
    ([name]) => field === name || field.startsWith(`${name}[`) || field.startsWith(`${name}.`),
  )?.[1];
}
