import type { JsonValue } from "@bufbuild/protobuf";
import type { Violation } from "@reeve/platform/failure";

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
 * of a body that is no JSON, is empty. Placeholders in a value stay as they are.
 */
export function renderInput(input: string, { triggerId, timeMs, body }: InputValues): string {
  let parsed: JsonValue | undefined;
  const root = () => (parsed ??= parseJson(body ?? ""));
  return input.replaceAll(placeholder, (whole, inner: string) => {
    const name = inner.trim();
    if (name === "time") return new Date(timeMs).toISOString();
    if (name === "trigger_id") return triggerId;
    if (name === "body") return body ?? "";
    const [, path] = bodyPath.exec(name) ?? [];
    return path === undefined ? whole : textOf(valueAt(root(), path));
  });
}

function isKnown(name: string, hasBody: boolean): boolean {
  return name === "time" || name === "trigger_id" || (hasBody && bodyPath.test(name));
}

function valueAt(root: JsonValue | undefined, path: string): JsonValue | undefined {
  let value = root;
  for (const [, member, index] of path.matchAll(/\.([A-Za-z_][\w-]*)|\[(\d+)\]/g)) {
    if (Array.isArray(value)) value = index === undefined ? undefined : value[Number(index)];
    else if (typeof value === "object" && value !== null && member !== undefined) {
      value = Object.hasOwn(value, member) ? value[member] : undefined;
    } else return undefined;
  }
  return value;
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function parseJson(text: string): JsonValue | undefined {
  try {
    // What a JSON text holds is a JSON value.
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
