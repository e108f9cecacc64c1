import { z } from "zod";
import { parseNamePattern } from "../tools/name-pattern.ts";
import { permissionClassOf } from "../tools/permission-classes.ts";
import { isUnknownRole } from "../deciders/unknown-role.ts";
import { defaultReasonLength, includesSelection } from "./approval-times.ts";
import type {
  ApprovalTimes,
  BreakGlassRule,
  CallSelection,
  Freeze,
  StepUpRule,
  WaitRule,
} from "./approval-times.ts";
import { coverWeek } from "./period.ts";
import { periodOf, weekly } from "./period-schema.ts";

/** How many waits, and how many freezes, a policy may have. */
const maxRules = 100;
const maxPatterns = 1_000;
const maxWaitMs = 30 * 86_400_000;

const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,62}$/,
    "is not a name of at most 63 characters: a-z, 0-9, and . _ -",
  );

const pattern = z
  .string()
  .min(1, "is empty")
  .max(255, "has more than 255 characters")
  .transform((text, context) => {
    const parsed = parseNamePattern(text);
    if (parsed !== undefined) return parsed;
    context.addIssue(`"${text}" ends with an escape character`);
    return z.NEVER;
  });

const patterns = z
  .array(pattern)
  .min(1, "is empty; leave it out")
  .max(maxPatterns, `has more than ${maxPatterns} entries`);

const selection = {
  name,
  tenants: patterns.optional(),
  agents: patterns.optional(),
  tools: patterns.optional(),
};

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A time such as `90s`, `15m`, `8h`, or `2d`, in milliseconds. */
const waitMs = z.string("must be a text such as 15m").transform((text, context) => {
  const [, count = "", unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (unitsMs[unit as keyof typeof unitsMs] ?? 0);
  if (ms > 0 && ms <= maxWaitMs) return ms;
  context.addIssue(`"${text}" is not a time of at most 30d, such as 90s, 15m, 8h, or 2d`);
  return z.NEVER;
});

const wait = z
  .strictObject({ ...selection, wait: waitMs })
  .transform((given): WaitRule => ({ ...selected(given), waitMs: given.wait }));

const freeze = z
  .strictObject({
    ...selection,
    from: z.string().optional(),
    until: z.string().optional(),
    weekly: weekly.optional(),
  })
  .transform((given, context): Freeze => {
    const { period, problem } = periodOf(given);
    if (period !== undefined) return { ...selected(given), period };
    context.issues.push({
      code: "custom",
      path: [problem.field],
      message: problem.text,
      input: given,
    });
    return z.NEVER;
  });

const members = z
  .array(z.string().min(1, "is empty").max(255, "has more than 255 characters"))
  .max(100, "has more than 100 entries")
  .default([]);

const group = members.superRefine((groups, { addIssue }) => {
  for (const [index, each] of groups.entries()) {
    if (isUnknownRole(each)) {
      addIssue({ code: "custom", path: [index], message: `"${each}" names no role` });
    }
  }
});

const breakGlass = z
  .strictObject({
    ...selection,
    people: members,
    groups: group,
    min_reason_length: z.int().min(1).max(1_000).default(defaultReasonLength),
    allow_requester: z.boolean().default(false),
  })
  .refine(
    ({ people, groups }) => people.length + groups.length > 0,
    "names nobody; add people or groups",
  )
  .transform((given): BreakGlassRule => ({
    ...selected(given),
    people: given.people,
    groups: given.groups,
    minReasonLength: given.min_reason_length,
    allowRequester: given.allow_requester,
  }));

const permissionClass = z.string().transform((text, context) => {
  const found = permissionClassOf(text);
  if (found !== undefined) return found;
  context.addIssue(`"${text}" is no permission class`);
  return z.NEVER;
});

const stepUp = z
  .strictObject({
    ...selection,
    classes: z.array(permissionClass).min(1, "is empty; leave it out").max(16).optional(),
  })
  .transform((given): StepUpRule => ({ ...selected(given), classes: new Set(given.classes) }));

/** The section `approvals` of a policy file. */
export const approvalTimesSchema: z.ZodType<ApprovalTimes> = z
  .strictObject({
    waits: rules(wait).default([]),
    freezes: rules(freeze).superRefine(refuseWholeWeek).default([]),
    break_glass: rules(breakGlass).default([]),
    step_up: rules(stepUp).default([]),
  })
  .refine(
    ({ waits, freezes, break_glass: glass, step_up: steps }) =>
      waits.length + freezes.length + glass.length + steps.length > 0,
    "has no effect; add waits, freezes, break_glass, or step_up",
  )
  .transform(({ waits, freezes, break_glass: glass, step_up: steps }) => ({
    waits,
    freezes,
    breakGlass: glass,
    stepUp: steps,
  }));

/** Together, freezes of the same calls must leave a part of the week. Other time zones are not compared: clock changes differ. */
function refuseWholeWeek(freezes: readonly Partial<Freeze>[], { addIssue }: z.RefinementCtx): void {
  // One that is not valid by itself has no period.
  const weekly = freezes.flatMap(({ period, name = "", ...selection }, index) =>
    period?.kind === "weekly"
      ? [
          {
            index,
            period,
            name,
            tenants: undefined,
            agents: undefined,
            tools: undefined,
            ...selection,
          },
        ]
      : [],
  );
  for (const freeze of weekly) {
    const { index, period } = freeze;
    const wider = weekly.filter(
      (other) => other.period.zone.name === period.zone.name && includesSelection(other, freeze),
    );
    if (wider.length < 2 || !coverWeek(wider.flatMap((each) => each.period.windows))) continue;
    const names = wider.map((each) => each.name).join(" and ");
    const message = `${names} together cover the whole week, so that nothing could ever be approved; deny the tools instead`;
    addIssue({ code: "custom", path: [index, "weekly"], message });
    return;
  }
}

function rules<Rule extends { readonly name: string }>(rule: z.ZodType<Rule>) {
  return z
    .array(rule)
    .max(maxRules, `has more than ${maxRules} entries`)
    .superRefine((given, { addIssue }) => {
      const seen = new Set<string>();
      for (const [index, each] of given.entries()) {
        if (seen.has(each.name)) {
          const message = `"${each.name}" is the name of an earlier entry`;
          addIssue({ code: "custom", path: [index, "name"], message });
        }
        seen.add(each.name);
      }
    });
}

function selected(given: z.infer<z.ZodObject<typeof selection>>): CallSelection {
  return { name: given.name, tenants: given.tenants, agents: given.agents, tools: given.tools };
}
