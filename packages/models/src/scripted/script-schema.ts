import { z } from "zod";

/** The schema of a script's file. `parseScript` documents the fields. */

const pattern = z.string().transform((source, context) => {
  try {
    return new RegExp(source, "u");
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : source });
    return z.NEVER;
  }
});

/** Checks rules over several fields even if a field is invalid, so that all problems are reported at once. */
const always = { when: () => true };

const ofRequest = {
  input: pattern.optional(),
  system: pattern.optional(),
  tools_include: z.string().min(1).optional(),
};

const conditionSchema = z
  .strictObject({
    ...ofRequest,
    notes: pattern.optional(),
    tool: z.string().min(1).optional(),
    matches: pattern.optional(),
    is_error: z.boolean().optional(),
  })
  .refine((when) => hasValidTest(when ?? {}), {
    message:
      "name the tool whose last result is tested, or test input, system, tools_include, or notes",
    ...always,
  });

function hasValidTest({
  tool,
  matches,
  is_error: isError,
  ...others
}: object & {
  readonly tool?: unknown;
  readonly matches?: unknown;
  readonly is_error?: unknown;
}): boolean {
  if (tool === undefined && (matches !== undefined || isError !== undefined)) return false;
  return tool !== undefined || hasAnyTest(others);
}

function hasAnyTest(when: object | undefined): boolean {
  return Object.values(when ?? {}).some((test) => test !== undefined);
}

const count = z.number().int().min(0);

const failSchema = z.strictObject({
  reason: z.enum([
    "rate_limited",
    "unavailable",
    "context_overflow",
    "refused",
    "unauthenticated",
    "unknown_model",
    "no_credit",
    "unsupported",
    "invalid",
    "malformed",
  ]),
  message: z.string().min(1),
  retryable: z.boolean().optional(),
  retry_after_ms: count.optional(),
  times: z.number().int().min(1).optional(),
  after_words: count.default(0),
});

const turnFields = {
  when: conditionSchema.optional(),
  reasoning: z.string().default(""),
  text: z.string().default(""),
  tool_calls: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        arguments: z.union([z.record(z.string(), z.json()), z.string()]).default({}),
      }),
    )
    .default([]),
  finish: z.string().min(1).optional(),
  usage: z.strictObject({ input_tokens: count, output_tokens: count }).optional(),
  fail: failSchema.optional(),
};

const turnSchema = z.strictObject(turnFields);
export type TurnFields = z.infer<typeof turnSchema>;

function hasContent(turn: Partial<TurnFields>): boolean {
  if (turn.fail !== undefined) return true;
  return turn.text !== "" || turn.tool_calls?.length !== 0 || turn.finish !== undefined;
}

function isConditional(turn: { readonly when?: unknown } | undefined): boolean {
  return turn?.when !== undefined;
}

function isEmpty(turn: Partial<TurnFields>): boolean {
  const { when, reasoning, usage } = turn;
  return !hasContent(turn) && when === undefined && reasoning === "" && usage === undefined;
}

/** Whether only the last item of a list has no condition. */
function isReachable(list: unknown): boolean {
  return !Array.isArray(list) || list.slice(0, -1).every(isConditional);
}

const neverReached = {
  message: "only the last item may have no `when`: items after it are never used",
  ...always,
};

const turnsSchema = z
  .array(
    z
      .strictObject({
        ...turnFields,
        alternatives: z
          .array(turnSchema.refine(hasContent, "a turn has text or tool_calls"))
          .min(1)
          .refine(isReachable, neverReached)
          .optional(),
      })
      .refine((turn) => turn?.alternatives !== undefined || hasContent(turn ?? {}), {
        message: "a turn has text, tool_calls or alternatives",
        ...always,
      })
      .refine((turn) => turn?.alternatives === undefined || isEmpty(turn), {
        message: "a turn with alternatives has no other content: move it into one of them",
        ...always,
      }),
  )
  .min(1, "a script has at least one turn");

export type TurnsFields = z.infer<typeof turnsSchema>;

const conversationSchema = z.strictObject({
  when: z
    .strictObject({ ...ofRequest, model: z.string().min(1).optional() })
    .refine(hasAnyTest, {
      message: "test at least one of system, input, tools_include, and model",
      ...always,
    })
    .optional(),
  turns: turnsSchema,
});

const mediaSchema = z.strictObject({
  size: z
    .string()
    .regex(/^[1-9][0-9]{0,3}x[1-9][0-9]{0,3}$/, "must be a width and a height, as 64x48")
    .default("64x64"),
  partials: z.number().int().min(0).max(3).default(0),
  delay_ms: z.number().int().min(0).max(600_000).default(0),
  usage: z
    .strictObject({ input_tokens: count, output_tokens: count })
    .default({ input_tokens: 0, output_tokens: 0 }),
  fail: failSchema.pick({ reason: true, message: true, retryable: true }).optional(),
});

export type MediaFields = z.infer<typeof mediaSchema>;

interface Answers {
  readonly turns?: unknown;
  readonly conversations?: unknown;
  readonly media?: unknown;
}

/** A value that is not an object is refused for that reason only. */
function hasAnswers(script: Answers | null) {
  return (
    [script?.turns, script?.conversations, script?.media].some((each) => each !== undefined) ||
    script === null
  );
}

export const scriptSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[\w.-]+$/, "letters, digits, dots, dashes and underscores only")
      .optional(),
    pace_ms: z.number().int().min(0).max(60_000).default(0),
    conversations: z.array(conversationSchema).min(1).refine(isReachable, neverReached).optional(),
    turns: turnsSchema.optional(),
    media: mediaSchema.optional(),
  })
  .refine(hasAnswers, {
    message: "a script has turns, conversations, or media",
    ...always,
  });
