import type { DescMessage, JsonObject, MessageShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import type { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { parseDocument } from "yaml";
import { checkShape } from "./check-shape.ts";

/** A kind of file: the message that it holds, and how errors refer to it. */
export interface FileKind<Schema extends DescMessage> {
  readonly schema: Schema;
  /** As in "is not a valid agent spec". */
  readonly noun: string;
  readonly reason: ErrorReason;
}

/**
 * Reads a message from YAML or JSON (which is YAML), with names in snake_case or camelCase. Throws a Failure that lists every
 * error of its shape, each with its path: syntax errors, unknown fields, and values of the wrong type.
 */
export function parseMessageFile<Schema extends DescMessage>(
  kind: FileKind<Schema>,
  text: string,
  file: string,
): MessageShape<Schema> {
  const json = readMapping(kind, text, file);
  const violations = checkShape(kind.schema, json, "");
  if (violations.length > 0) throw malformed(kind, file, violations);
  try {
    return fromJson(kind.schema, json);
  } catch (error) {
    throw malformed(kind, file, [{ field: "", description: messageOf(error), reason: "MISTYPED" }]);
  }
}

type Kind = Pick<FileKind<DescMessage>, "noun" | "reason">;

function readMapping(kind: Kind, text: string, file: string): JsonObject {
  const document = parseDocument(text, { stringKeys: true });
  const syntax = [...document.errors, ...document.warnings].map(({ message }) =>
    syntaxError(message),
  );
  if (syntax.length > 0) throw malformed(kind, file, syntax);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // An alias without an anchor, or so many aliases that the file would expand without limit.
    throw malformed(kind, file, [syntaxError(messageOf(error))]);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const description = "the file is not a mapping of fields";
    throw malformed(kind, file, [{ field: "", description, reason: "MISTYPED" }]);
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

function malformed(kind: Kind, file: string, violations: readonly Violation[]): Failure {
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
