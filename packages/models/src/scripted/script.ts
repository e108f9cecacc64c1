import { basename, extname } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ModelFailureReason } from "@reeve/engine/ports/model-provider";
import { parseYamlFile } from "@reeve/platform/process/parse-yaml-file";
import type { MediaFields, TurnFields, TurnsFields } from "./script-schema.ts";
import { scriptSchema } from "./script-schema.ts";

/** The answers of a scripted model. */
export interface Script {
  readonly name: string;
  /** The path of its file, for error messages. */
  readonly file: string;
  /** Milliseconds between two words. */
  readonly paceMs: number;
  /** The first conversation whose condition matches is used. */
  readonly conversations: readonly ScriptConversation[];
  /** What it generates in place of text. Undefined: no media. */
  readonly media: ScriptMedia | undefined;
}

/** The media that a script generates: images of one color, and silence. */
export interface ScriptMedia {
  /** The size of images in pixels. */
  readonly width: number;
  readonly height: number;
  /** How many partial images come before an image. */
  readonly partials: number;
  /** Milliseconds before each image, partial or not, and before speech. */
  readonly delayMs: number;
  /** The tokens that are reported. 0: none. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  /** Undefined: nothing fails. */
  readonly fail: Pick<ScriptFailure, "reason" | "message" | "retryable"> | undefined;
}

interface ScriptConversation {
  /** Undefined: always matches. */
  readonly when: ConversationCondition | undefined;
  /** The alternatives of each turn. The first whose condition matches is used. */
  readonly turns: readonly (readonly ScriptTurn[])[];
}

export interface ScriptTurn {
  /** Undefined: always matches. */
  readonly when: Condition | undefined;
  readonly reasoning: string;
  readonly text: string;
  readonly toolCalls: readonly ScriptCall[];
  /** Undefined: `tool_calls` when there are any, else `stop`. */
  readonly finish: string | undefined;
  /** Undefined: no usage is reported. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | undefined;
  readonly fail: ScriptFailure | undefined;
}

interface ScriptCall {
  readonly name: string;
  /** A string is sent as it is, so that a script can write invalid arguments. */
  readonly arguments: JsonObject | string;
}

export interface ScriptFailure {
  readonly reason: ModelFailureReason;
  readonly message: string;
  /** Undefined: follows from the reason. */
  readonly retryable: boolean | undefined;
  readonly retryAfterMs: number | undefined;
  /** How many times the turn fails before it is answered. Undefined: it always fails. */
  readonly times: number | undefined;
  /** The number of words that are streamed before the failure. */
  readonly afterWords: number;
}

/** Matches if all given parts match. */
export interface Condition {
  /** The name of a tool that has a result. */
  readonly tool?: string | undefined;
  /** Tested against the content of the last result of `tool`. */
  readonly matches?: RegExp | undefined;
  readonly is_error?: boolean | undefined;
  /** Tested against the latest message of the user. */
  readonly input?: RegExp | undefined;
  /** Tested against the system prompt. */
  readonly system?: RegExp | undefined;
  /** The name of an offered tool. */
  readonly tools_include?: string | undefined;
  /** Tested against the notes of the latest message. */
  readonly notes?: RegExp | undefined;
}

/** Matches if all given parts match. */
export interface ConversationCondition {
  /** Tested against the system prompt. */
  readonly system?: RegExp | undefined;
  /** Tested against every message of the user, so that the conversation stays the same after more messages. */
  readonly input?: RegExp | undefined;
  /** The name of an offered tool. */
  readonly tools_include?: string | undefined;
  /** The id of the model in the registry. */
  readonly model?: string | undefined;
}

/**
 * Parses a script. Throws a Failure with every problem of the file.
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
 *     usage: { input_tokens: 900, output_tokens: 20 }   # default: none, so that the runtime estimates it
 *   - alternatives:        # the first whose `when` matches; the last needs none
 *       - when: { tool: forecast, is_error: true }
 *         text: "There is no forecast: {{ tools.forecast }}"
 *       - when: { tool: forecast, matches: "rain|snow" }
 *         text: Take an umbrella.
 *       - text: "It will be {{ tools.forecast.days.0.sky }}."
 * ```
 *
 * A turn has `text` or `tool_calls` or both, and may name its `finish` reason (`length`, `content_filter`). `when` tests
 * the last result of a `tool` (`matches`: regular expression over its content; `is_error`), the latest `input`,
 * the `system` prompt or the `notes` of the latest message (regular expressions), and whether a tool is offered
 * (`tools_include`). `{{ input }}` is the latest message of the user, `{{ files }}` a list of its files, `{{ tools.<name> }}` the last result of a tool
 * as it is, `{{ tools.<name>.<path> }}` a value in a result that is JSON. An argument that is nothing but such a
 * quotation keeps the type of the value. Other double braces are text. Arguments that are a text are sent as they are,
 * even if they are invalid JSON. Use a YAML anchor for a turn that is repeated.
 *
 * A turn may `fail` as a provider would:
 *
 * ```yaml
 *   - fail:
 *       reason: rate_limited     # unavailable, context_overflow, refused, unauthenticated, invalid, malformed
 *       message: slow down
 *       retryable: true          # default: follows from the reason
 *       retry_after_ms: 50       # default: none
 *       times: 2                 # then the turn is answered; default: it always fails
 *       after_words: 3           # are streamed first; default 0
 *     text: Now I can answer.
 * ```
 *
 * The failures of a prompt are counted in the memory of the process, until its turn is answered.
 *
 * One script can have several conversations, which are distinguished by their prompts:
 *
 * ```yaml
 * conversations:             # the first whose `when` matches; the last needs none
 *   - when: { system: "(?i:planner)" }
 *     turns: [{ text: "1. Look.  2. Tell." }]
 *   - when: { input: "^part \\d", tools_include: finish_subtask }
 *     turns: [{ tool_calls: [{ name: finish_subtask }] }]
 *   - when: { model: small }   # the model's id in the registry
 *     turns: [{ text: A summary. }]
 * turns: [{ text: Hello. }]  # if none of them matches
 * ```
 *
 * There, `input` is tested against every message of the user, so that a conversation stays the same after more messages.
 *
 * A script can stand for a model that generates images and speech:
 *
 * ```yaml
 * media:
 *   size: 64x48              # of the images, which have one color; default 64x64
 *   partials: 2              # partial images before each image; default 0
 *   delay_ms: 100            # before each of them; default 0
 *   usage: { input_tokens: 9, output_tokens: 200 }   # default: none
 *   fail: { reason: refused, message: not this }     # default: it does not fail
 * ```
 */
export function parseScript(text: string, file: string): Script {
  const parsed = parseYamlFile(text, file, scriptSchema);
  const { name, pace_ms: paceMs, conversations = [], turns, media } = parsed;
  return {
    name: name ?? basename(file, extname(file)),
    file,
    paceMs,
    conversations: [
      ...conversations.map(({ when, turns }) => ({ when, turns: turnsOf(turns) })),
      ...(turns === undefined ? [] : [{ when: undefined, turns: turnsOf(turns) }]),
    ],
    media: media && mediaOf(media),
  };
}

function mediaOf({ size, partials, delay_ms: delayMs, usage, fail }: MediaFields): ScriptMedia {
  const [width = 1, height = 1] = size.split("x").map(Number);
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
  return {
    width,
    height,
    partials,
    delayMs,
    usage: { inputTokens, outputTokens },
    fail: fail && { reason: fail.reason, message: fail.message, retryable: fail.retryable },
  };
}

function turnsOf(turns: TurnsFields): ScriptConversation["turns"] {
  return turns.map(({ alternatives, ...turn }) => (alternatives ?? [turn]).map(turnOf));
}

function turnOf({ tool_calls: toolCalls, usage, fail, ...turn }: TurnFields): ScriptTurn {
  return {
    when: turn.when,
    reasoning: turn.reasoning,
    text: turn.text,
    toolCalls,
    finish: turn.finish,
    usage: usage && { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
    fail: fail && {
      reason: fail.reason,
      message: fail.message,
      retryable: fail.retryable,
      retryAfterMs: fail.retry_after_ms,
      times: fail.times,
      afterWords: fail.after_words,
    },
  };
}
