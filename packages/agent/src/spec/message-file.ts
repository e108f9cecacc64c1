import type { DescMessage, JsonObject, MessageShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import type { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import type { ShapeOptions } from "@reeve/platform/strict/read-shape";
import { readShape } from "@reeve/platform/strict/read-shape";
import type { Document, YAMLParseError, YAMLWarning } from "yaml";
import { isScalar, Lexer, LineCounter, parseDocument, visit } from "yaml";

/** A kind of file: the message that it holds, and how errors refer to it. */
export interface FileKind<Schema extends DescMessage> {
  readonly schema: Schema;
  /** As in "is not a valid agent spec". */
  readonly noun: string;
  readonly reason: ErrorReason;
  /** What null means in a field: see `readShape`. Default: `unset`. */
  readonly nulls?: ShapeOptions["nulls"];
}

/** A message as far as a file describes one, and everything that is wrong with the shape of the file. */
export interface MessageFile<Schema extends DescMessage> {
  readonly message: MessageShape<Schema>;
  readonly violations: readonly Violation[];
}

/**
 * Reads a message from YAML or JSON (which is YAML), with names in snake_case or camelCase. The message has no unknown fields and
 * no values of the wrong type: each is a violation, with its path. Throws a Failure if the file is no mapping of fields.
 */
export function readMessageFile<Schema extends DescMessage>(
  kind: FileKind<Schema>,
  text: string,
  file: string,
): MessageFile<Schema> {
  const { schema, nulls = "unset" } = kind;
  const { json, violations } = readShape(schema, readMapping(kind, text, file), { nulls });
  try {
    return { message: fromJson(kind.schema, json), violations };
  } catch (error) {
    const unreadable = { field: "", description: messageOf(error), reason: "MISTYPED" };
    throw malformedFile(kind, file, [...violations, unreadable]);
  }
}

/** Reads a message as `readMessageFile` does, but throws a Failure that lists all violations if there are any. */
export function parseMessageFile<Schema extends DescMessage>(
  kind: FileKind<Schema>,
  text: string,
  file: string,
): MessageShape<Schema> {
  const { message, violations } = readMessageFile(kind, text, file);
  if (violations.length > 0) throw malformedFile(kind, file, violations);
  return message;
}

type Kind = Pick<FileKind<DescMessage>, "noun" | "reason">;

/** The maximum size of a file: no valid one comes near it. */
const maxBytes = 1_048_576;
/** The maximum number of tokens of a file that is longer than this: parsing takes time for each. */
export const maxTokens = 400_000;
/** How many errors of its syntax one file reports. */
const maxSyntaxErrors = 100;

/** Reads a YAML file whose root is a mapping. Throws a Failure that lists the errors of its syntax. */
export function readMapping(kind: Kind, text: string, file: string): JsonObject {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) {
    const description = `the file has ${bytes} bytes; the limit is ${maxBytes}`;
    throw malformedFile(kind, file, [{ field: "", description, reason: "TOO_LARGE" }]);
  }
  if (hasTooManyTokens(text)) {
    const description = `the file has more than ${maxTokens} names, values, and marks`;
    throw malformedFile(kind, file, [{ field: "", description, reason: "TOO_LARGE" }]);
  }
  const lineCounter = new LineCounter();
  const document = withoutStacks(() =>
    // The parser would compare each key with each other one, and copy the line of each error: a file would take minutes.
    parseDocument(text, { stringKeys: true, uniqueKeys: false, prettyErrors: false, lineCounter }),
  );
  const errors = [...document.errors, ...document.warnings]
    .slice(0, maxSyntaxErrors)
    .map((error) => syntaxErrorOf(error, lineCounter));
  const syntax = [...errors, ...repeatedKeys(document, lineCounter)].slice(0, maxSyntaxErrors);
  if (syntax.length > 0) throw malformedFile(kind, file, syntax);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // An alias without an anchor, or so many aliases that the file would expand without limit.
    throw malformedFile(kind, file, [syntaxError("", messageOf(error))]);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const description = "the file is not a mapping of fields";
    throw malformedFile(kind, file, [{ field: "", description, reason: "MISTYPED" }]);
  }
  // YAML without custom tags contains only JSON values.
  return value as JsonObject;
}

/** Whether a file has more tokens than are parsed. A token has at least one character. */
function hasTooManyTokens(text: string): boolean {
  if (text.length <= maxTokens) return false;
  let tokens = 0;
  for (const _ of new Lexer().lex(text)) if (++tokens > maxTokens) return true;
  return false;
}

/** Describes the keys that a mapping of the document has more than once. */
function repeatedKeys(document: Document.Parsed, lines: LineCounter): readonly Violation[] {
  const repeated: Violation[] = [];
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const { line } = lines.linePos(key.range?.[0] ?? 0);
          repeated.push(syntaxError(`line ${line}`, `the key "${String(key.value)}" is repeated`));
        }
        seen.add(key.value);
      }
    },
  });
  return repeated;
}

/** Describes an error of the parser. */
function syntaxErrorOf(
  { code, message, pos: [start] }: YAMLParseError | YAMLWarning,
  lines: LineCounter,
): Violation {
  const { line } = lines.linePos(start);
  const isSecond = code === "MULTIPLE_DOCS";
  return syntaxError(
    `line ${line}`,
    isSecond ? "the file contains more than one document" : message,
  );
}

/** Runs a function whose errors have no stack: to record one takes longer than the parser needs to find a mistake. */
function withoutStacks<Result>(parse: () => Result): Result {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parse();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** `where` is the line in the file, if it is known. */
function syntaxError(where: string, message: string): Violation {
  return { field: where, description: message.split("\n")[0] ?? message, reason: "SYNTAX" };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the Failure for a file, with its name and all violations. */
export function malformedFile(kind: Kind, file: string, violations: readonly Violation[]): Failure {
  const list = violations.map(({ field, description }) =>
    field === "" ? description : `${field}: ${description}`,
  );
  return new Failure(
    "invalid",
    kind.reason,
    `${file} is not a valid ${kind.noun}: ${list.join("; ")}`,
    {
      violations,
    },
  );
}
