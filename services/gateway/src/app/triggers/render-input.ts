import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";

/** What the placeholders of an input stand for. */
export interface InputValues {
  readonly triggerId: string;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  /** The body of a webhook as text. Undefined: there is none. */
  readonly body: string | undefined;
}

/** Takes linear time: spaces around a name are trimmed, not matched. */
const placeholder = /\{\{([^{}]*)\}\}/g;
/** The maximum length of the input of a run, in bytes. */
const maxInputBytes = 262_144;
/** How deep JSON may be nested whose values are inserted. */
const maxLevels = 64;
/** How much of an unknown name is shown, in characters. */
const maxShown = 100;
/** A path of a body: `body`, `body.issue.title`, `body.items[0].id`. */
const bodyPath = /^body((?:\.[A-Za-z_][\w-]{0,63}|\[\d{1,6}\]){0,20})$/;

/** Returns what is wrong with the placeholders of an input. */
export function inputViolations(input: string, hasBody: boolean): readonly Violation[] {
  const names = [...input.matchAll(placeholder)].map(([, name = ""]) => name.trim());
  const unknown = names.filter((name) => !isKnown(name, hasBody));
  const known = [
    "{{time}}",
    "{{trigger_id}}",
    ...(hasBody ? ["{{body}}", "{{body.path[0]}}"] : []),
  ];
  return [...new Set(unknown)].map((name) => ({
    field: "spec.input",
    description: `{{${name.slice(0, maxShown)}}} is no placeholder of this trigger; use ${known.join(", ")}`,
    reason: "UNKNOWN_PLACEHOLDER",
  }));
}

/**
 * Returns an input with its values. Texts of a body are inserted as they are, other values as JSON; a value that the body lacks, or any
 * of a body that is no JSON, is empty. Placeholders in a value stay as they are. Throws a Failure of kind `invalid` if the result is
 * empty or longer than the input of a run may be, and if JSON with such a value is nested too deep.
 */
export function renderInput(input: string, { triggerId, timeMs, body }: InputValues): string {
  let parsed: { readonly value: JsonValue | undefined } | undefined;
  const root = () => (parsed ??= { value: parseJson(body ?? "") }).value;
  const valueOf = (whole: string, name: string) => {
    if (name === "time") return new Date(timeMs).toISOString();
    if (name === "trigger_id") return triggerId;
    if (name === "body") return body ?? "";
    const [, path] = bodyPath.exec(name) ?? [];
    return path === undefined ? whole : textOf(valueAt(root(), path));
  };
  let rendered = "";
  let bytes = 0;
  const add = (text: string) => {
    bytes += Buffer.byteLength(text);
    if (bytes > maxInputBytes) {
      throw unfit(`the input with its values has more than ${maxInputBytes} bytes`, "TOO_LONG");
    }
    rendered += text;
  };
  let end = 0;
  for (const match of input.matchAll(placeholder)) {
    const [whole, inner = ""] = match;
    add(input.slice(end, match.index));
    add(valueOf(whole, inner.trim()));
    end = match.index + whole.length;
  }
  add(input.slice(end));
  if (rendered !== "") return rendered;
  throw unfit("the input with its values is empty: the body lacks all of them", "EMPTY");
}

function unfit(problem: string, reason: string): Failure {
  const violation = { field: "body", description: problem, reason };
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, problem, { violations: [violation] });
}

function isKnown(name: string, hasBody: boolean): boolean {
  return name === "time" || name === "trigger_id" || (hasBody && bodyPath.test(name));
}

function valueAt(root: JsonValue | undefined, path: string): JsonValue | undefined {
  let value = root;
  for (const [, member, index] of path.matchAll(/\.([A-Za-z_][\w-]*)|\[(\d+)\]/g)) {
    if (Array.isArray(value)) value = index === undefined ? undefined : value[Number(index)];
    else if (isRecord(value) && member !== undefined) {
      value = Object.hasOwn(value, member) ? value[member] : undefined;
    } else return undefined;
  }
  return value;
}

function isRecord(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !isRawJSON(value);
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Functions of Node.js that the types of the language lack. */
const { rawJSON, isRawJSON } = JSON as typeof JSON & {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
};

/** Keeps a number as it is written, if it would be written in another way: ids may have more digits than a number can hold. */
function withDigits(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || String(value) === source) return value;
  return rawJSON(source);
}

function parseJson(text: string): JsonValue | undefined {
  if (isNestedDeeper(text, maxLevels)) {
    throw unfit(`the JSON of the body is nested deeper than ${maxLevels} levels`, "TOO_DEEP");
  }
  try {
    // What a JSON text holds is a JSON value.
    return JSON.parse(text, withDigits) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Whether a JSON text is nested deeper than a number of levels. Does not recurse, as what writes its values does. */
function isNestedDeeper(text: string, max: number): boolean {
  let levels = 0;
  let isText = false;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (isText) {
      if (char === "\\") index += 1;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if (char === "[" || char === "{") levels += 1;
    else if (char === "]" || char === "}") levels -= 1;
    if (levels > max) return true;
  }
  return false;
}
