import type { DescMessage, JsonObject, MessageShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import type { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { readShape } from "@reeve/platform/strict/read-shape";
import { parseDocument } from "yaml";

/** A kind of file: the message that it holds, and how errors refer to it. */
export interface FileKind<Schema extends DescMessage> {
  readonly schema: Schema;
  /** As in "is not a valid agent spec". */
  readonly noun: string;
  readonly reason: ErrorReason;
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
  const { json, violations } = readShape(kind.schema, readMapping(kind, text, file));
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

function readMapping(kind: Kind, text: string, file: string): JsonObject {
  const document = parseDocument(text, { stringKeys: true });
  const syntax = [...document.errors, ...document.warnings].map(({ message }) =>
    syntaxError(message),
  );
  if (syntax.length > 0) throw malformedFile(kind, file, syntax);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // An alias without an anchor, or so many aliases that the file would expand without limit.
    throw malformedFile(kind, file, [syntaxError(messageOf(error))]);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const description = "the file is not a mapping of fields";
    throw malformedFile(kind, file, [{ field: "", description, reason: "MISTYPED" }]);
  }
  // YAML without custom tags contains only JSON values.
  return value as JsonObject;
}

function syntaxError(message: string): Violation {
  return { field: "", description: message.split("\n")[0] ?? message, reason: "SYNTAX" };
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
