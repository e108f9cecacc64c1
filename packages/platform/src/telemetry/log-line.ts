import { inspect } from "node:util";

/** Fields that the start of a line shows, or that are of no use to a person at a terminal. */
const shown: ReadonlySet<string> = new Set(["level", "time", "service", "msg", "err"]);
const tracing: ReadonlySet<string> = new Set(["trace_id", "span_id"]);

/**
 * Converts a line of the log from JSON into text for a person: time, level, service, message, and fields; below them an
 * error. Control characters of values are removed, so that a value cannot change the terminal.
 */
export function readableLine(json: string): string {
  const fields = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const { level, time, service, msg, err } = fields;
  const clock = textOf(time).slice(11, 23);
  const rest = Object.entries(fields)
    .filter(([name]) => !shown.has(name) && !tracing.has(name))
    .map(([name, value]) => ` ${name}=${inspect(value, { breakLength: Infinity })}`);
  const error = err === undefined ? "" : `\n${errorText(err)}`;
  const head = `${clock} ${textOf(level).toUpperCase().padEnd(5)} ${textOf(service)}`;
  return `${plain(`${head}  ${textOf(msg)}${rest.join("")}${error}`)}\n`;
}

function errorText(error: unknown): string {
  const { stack, message } = Object(error) as {
    readonly stack?: unknown;
    readonly message?: unknown;
  };
  const text = [stack, message].find((each) => each !== undefined && each !== "") ?? error;
  return textOf(text)
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : inspect(value);
}

/** Removes control characters except tab and line feed, and the bidirectional overrides and isolates. */
function plain(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, "");
}
