import { LineCounter, isNode, parseDocument } from "yaml";
import type { Document } from "yaml";
import type { z } from "zod";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "../failure.ts";
import { Failure } from "../failure.ts";

/**
 * Parses a YAML (or JSON) file by a schema. Throws one Failure of kind `invalid` that lists every problem with its path and
 * line.
 */
export function parseYamlFile<Value>(text: string, file: string, schema: z.ZodType<Value>): Value {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  if (document.errors.length > 0) {
    const violations = document.errors.map(({ message, pos }) => ({
      field: `line ${lineAt(pos[0])}`,
      description: message,
      reason: "INVALID_YAML",
    }));
    throw invalidFile(file, violations);
  }
  const parsed = schema.safeParse(document.toJS());
  if (parsed.success) return parsed.data;
  const violations = parsed.error.issues.map(({ path, message }) => ({
    field: `${pathText(path)} (line ${lineAt(offsetOf(document, path))})`,
    description: message,
    reason: "INVALID_FIELD",
  }));
  throw invalidFile(file, violations);
}

/** Creates the failure of a file with all its problems. */
export function invalidFile(file: string, violations: readonly Violation[]): Failure {
  const list = violations.map(({ field, description }) => `  ${field}: ${description}`).join("\n");
  const message = `${file} is not valid:\n${list}`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { violations });
}

function pathText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "file";
  const text = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  return text.join("").replace(/^\./, "");
}

/** Returns the offset of the value at `path`, or of the nearest enclosing value that exists. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
