import { basename, extname } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { z } from "zod";
import { parseYamlFile } from "../parse-yaml-file.ts";

/** What a scripted model says, turn after turn. */
export interface Script {
  readonly name: string;
  /** Where it stands, for messages. */
  readonly file: string;
  /** Milliseconds between two words. */
  readonly paceMs: number;
  /** What it may say at each place: the first alternative whose condition holds. */
  readonly turns: readonly (readonly ScriptTurn[])[];
}

export interface ScriptTurn {
  /** Undefined: always. */
  readonly when: Condition | undefined;
  readonly reasoning: string;
  readonly text: string;
  readonly toolCalls: readonly ScriptCall[];
  /** Undefined: `tool_calls` when there are any, else `stop`. */
  readonly finish: string | undefined;
}

interface ScriptCall {
  readonly name: string;
  /** A text is sent as it is, so that a script can write arguments that do not parse. */
  readonly arguments: JsonObject | string;
}

/** Holds when everything that is given holds. */
export interface Condition {
  /** A tool that has given a result. */
  readonly tool?: string | undefined;
  /** Tested against the content of its last result. */
  readonly matches?: RegExp | undefined;
  readonly is_error?: boolean | undefined;
  /** Tested against the latest message of the user. */
  readonly input?: RegExp | undefined;
}

/**
 * Reads a script. Throws a Failure with every problem of the file.
 *
 * ```yaml
 * name: weather            # the model is `scripted:weather`; default: the name of the file
 * pace_ms: 20              # between two words; default 0
 * turns:                   # the n-th is the answer to a prompt that holds n - 1 assistant messages
 *   - reasoning: I need the forecast.
 *     text: Let me look.
 *     tool_calls:
 *       - name: forecast
 *         arguments: { question: "{{ input }}" }
 *   - alternatives:        # the first whose `when` holds; the last may go without
 *       - when: { tool: forecast, is_error: true }
 *         text: "There is no forecast: {{ tools.forecast }}"
 *       - when: { tool: forecast, matches: "rain|snow" }
 *         text: Take an umbrella.
 *       - text: "It will be {{ tools.forecast.days.0.sky }}."
 * ```
 *
 * A turn has `text` or `tool_calls` or both, and may name its `finish` reason (`length`, `content_filter`). `when` asks
 * for the last result of a `tool` (`matches`: regular expression over its content; `is_error`) and for the `input`
 * (regular expression). `{{ input }}` is the latest message of the user, `{{ tools.<name> }}` the last result of a tool
 * as it is, `{{ tools.<name>.<path> }}` a value in a result that is JSON. An argument that is nothing but such a
 * quotation keeps the type of the value. Other double braces are text. Arguments that are a text are sent as they are,
 * even if they are no JSON. A turn that comes again and again is written once with a YAML anchor.
 */
export function parseScript(text: string, file: string): Script {
  const { name, pace_ms, turns } = parseYamlFile(text, file, scriptSchema);
  return {
    name: name ?? basename(file, extname(file)),
    file,
    paceMs: pace_ms,
    turns: turns.map(({ alternatives, ...turn }) => (alternatives ?? [turn]).map(turnOf)),
  };
}

const pattern = z.string().transform((source, context) => {
  try {
    return new RegExp(source, "u");
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : source });
    return z.NEVER;
  }
});

/** Rules over several fields are checked even where a field is wrong, so that all problems show at once. */
const always = { when: () => true };

const conditionSchema = z
  .strictObject({
    tool: z.string().min(1).optional(),
    matches: pattern.optional(),
    is_error: z.boolean().optional(),
    input: pattern.optional(),
  })
  .refine((when) => when?.tool !== undefined || when?.input !== undefined, {
    message: "name the tool whose last result is asked for, or the input",
    ...always,
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
};

const turnSchema = z.strictObject(turnFields);
type TurnFields = z.infer<typeof turnSchema>;

function saysSomething(turn: Partial<TurnFields>): boolean {
  return turn.text !== "" || turn.tool_calls?.length !== 0 || turn.finish !== undefined;
}

const scriptSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[\w.-]+$/, "letters, digits, dots, dashes and underscores only")
    .optional(),
  pace_ms: z.number().int().min(0).max(60_000).default(0),
  turns: z
    .array(
      z
        .strictObject({
          ...turnFields,
          alternatives: z
            .array(turnSchema.refine(saysSomething, "a turn has text or tool_calls"))
            .min(1)
            .refine((turns) => !Array.isArray(turns) || turns.slice(0, -1).every(isConditional), {
              message: "only the last goes without `when`: what comes after it is never said",
              ...always,
            })
            .optional(),
        })
        .refine((turn) => turn?.alternatives !== undefined || saysSomething(turn ?? {}), {
          message: "a turn has text, tool_calls or alternatives",
          ...always,
        })
        .refine((turn) => turn?.alternatives === undefined || isEmpty(turn), {
          message: "what is said beside alternatives is never said: move it into one of them",
          ...always,
        }),
    )
    .min(1, "a script has at least one turn"),
});

function isConditional(turn: Partial<TurnFields> | undefined): boolean {
  return turn?.when !== undefined;
}

function isEmpty(turn: Partial<TurnFields>): boolean {
  return !saysSomething(turn) && turn.when === undefined && turn.reasoning === "";
}

function turnOf({ tool_calls, when, reasoning, text, finish }: TurnFields): ScriptTurn {
  return {
    when,
    reasoning,
    text,
    toolCalls: tool_calls.map((call) => ({
      name: call.name,
      arguments: call.arguments,
    })),
    finish,
  };
}
