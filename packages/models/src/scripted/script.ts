import { basename, extname } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ModelFailureReason } from "@reeve/engine/ports/model-provider";
import { parseYamlFile } from "../registry/parse-yaml-file.ts";
import type { TurnFields, TurnsFields } from "./script-schema.ts";
import { scriptSchema } from "./script-schema.ts";

/** What a scripted model says, turn after turn. */
export interface Script {
  readonly name: string;
  /** Where it stands, for messages. */
  readonly file: string;
  /** Milliseconds between two words. */
  readonly paceMs: number;
  /** The parts that it plays: the first whose condition holds. */
  readonly conversations: readonly ScriptConversation[];
}

interface ScriptConversation {
  /** Undefined: always. */
  readonly when: ConversationCondition | undefined;
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
  /** Undefined: it does not tell. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | undefined;
  readonly fail: ScriptFailure | undefined;
}

interface ScriptCall {
  readonly name: string;
  /** A text is sent as it is, so that a script can write arguments that do not parse. */
  readonly arguments: JsonObject | string;
}

export interface ScriptFailure {
  readonly reason: ModelFailureReason;
  readonly message: string;
  /** Undefined: as the reason has it. */
  readonly retryable: boolean | undefined;
  readonly retryAfterMs: number | undefined;
  /** How often it fails before the turn is said. Undefined: always. */
  readonly times: number | undefined;
  /** Words that it says before. */
  readonly afterWords: number;
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
  /** Tested against the system prompt. */
  readonly system?: RegExp | undefined;
  /** A tool that is offered. */
  readonly tools_include?: string | undefined;
  /** Tested against the notes of the latest message. */
  readonly notes?: RegExp | undefined;
}

/** Holds when everything that is given holds. */
export interface ConversationCondition {
  /** Tested against the system prompt. */
  readonly system?: RegExp | undefined;
  /** Tested against every message of the user: a conversation stays what it is when more is said. */
  readonly input?: RegExp | undefined;
  /** A tool that is offered. */
  readonly tools_include?: string | undefined;
  /** The id of the model in the registry. */
  readonly model?: string | undefined;
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
 *     usage: { input_tokens: 900, output_tokens: 20 }   # default: not told, so that the runtime estimates
 *   - alternatives:        # the first whose `when` holds; the last may go without
 *       - when: { tool: forecast, is_error: true }
 *         text: "There is no forecast: {{ tools.forecast }}"
 *       - when: { tool: forecast, matches: "rain|snow" }
 *         text: Take an umbrella.
 *       - text: "It will be {{ tools.forecast.days.0.sky }}."
 * ```
 *
 * A turn has `text` or `tool_calls` or both, and may name its `finish` reason (`length`, `content_filter`). `when` asks
 * for the last result of a `tool` (`matches`: regular expression over its content; `is_error`), for the latest `input`,
 * the `system` prompt or the `notes` of the latest message (regular expressions), and for a tool that is offered
 * (`tools_include`). `{{ input }}` is the latest message of the user, `{{ tools.<name> }}` the last result of a tool
 * as it is, `{{ tools.<name>.<path> }}` a value in a result that is JSON. An argument that is nothing but such a
 * quotation keeps the type of the value. Other double braces are text. Arguments that are a text are sent as they are,
 * even if they are no JSON. A turn that comes again and again is written once with a YAML anchor.
 *
 * A turn may `fail` as a provider would:
 *
 * ```yaml
 *   - fail:
 *       reason: rate_limited     # unavailable, context_overflow, refused, unauthenticated, invalid, malformed
 *       message: slow down
 *       retryable: true          # default: as the reason has it
 *       retry_after_ms: 50       # default: it does not say
 *       times: 2                 # then the turn is said; default: it fails always
 *       after_words: 3           # of its text are said first; default 0
 *     text: Now I can answer.
 * ```
 *
 * The failures of a prompt are counted in the memory of the process, until its turn is said.
 *
 * One script can play several parts, each known by what is asked of it:
 *
 * ```yaml
 * conversations:             # the first whose `when` holds; the last may go without
 *   - when: { system: "(?i:planner)" }
 *     turns: [{ text: "1. Look.  2. Tell." }]
 *   - when: { input: "^part \\d", tools_include: finish_subtask }
 *     turns: [{ tool_calls: [{ name: finish_subtask }] }]
 *   - when: { model: small }   # the model's id in the registry
 *     turns: [{ text: A summary. }]
 * turns: [{ text: Hello. }]  # where none of them holds
 * ```
 *
 * There, `input` is tested against every message of the user, so that a conversation stays the same when more is said.
 */
export function parseScript(text: string, file: string): Script {
  const parsed = parseYamlFile(text, file, scriptSchema);
  const { name, pace_ms: paceMs, conversations = [], turns } = parsed;
  return {
    name: name ?? basename(file, extname(file)),
    file,
    paceMs,
    conversations: [
      ...conversations.map(({ when, turns }) => ({ when, turns: turnsOf(turns) })),
      ...(turns === undefined ? [] : [{ when: undefined, turns: turnsOf(turns) }]),
    ],
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
