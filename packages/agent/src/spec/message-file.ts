import type { DescMessage, JsonObject, MessageShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import type { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { parseDocument } from "yaml";
import { checkShape } from "./check-shape.ts";

/** A kind of file: the message that it holds, and how it is called when it is none. */
export interface FileKind<Schema extends DescMessage> {
  readonly schema: Schema;
  /** As in "is no agent spec". */
  readonly noun: string;
  readonly reason: ErrorReason;
}

/**
 * Reads a message from YAML or JSON (which is YAML), with names in snake_case or camelCase. Throws a Failure with everything
 * that is wrong with its shape: syntax, unknown fields, mistyped fields, each with its path.
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
    // An alias of nothing, or so many that the file would explode.
    throw malformed(kind, file, [syntaxError(messageOf(error))]);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const description = "the file is no mapping of fields";
    throw malformed(kind, file, [{ field: "", description, reason: "MISTYPED" }]);
  }
  // YAML without tags of its own gives only JSON.
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
  return new Failure("invalid", kind.reason, `${file} is no ${kind.noun}: ${list.join("; ")}`, {
    violations,
  });
}
