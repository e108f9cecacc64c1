import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fromJson, toJson } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { parseDocument, stringify } from "yaml";
import { checkShape } from "./check-shape.ts";

/**
 * Reads a spec from YAML or JSON (which is YAML), with names in snake_case or camelCase. Throws a Failure with everything
 * that is wrong with its shape: syntax, unknown fields, mistyped fields, each with its path.
 */
export function parseSpecFile(text: string, file: string): AgentSpec {
  const json = readMapping(text, file);
  const violations = checkShape(AgentSpecSchema, json, "");
  if (violations.length > 0) throw malformed(file, violations);
  try {
    return fromJson(AgentSpecSchema, json);
  } catch (error) {
    throw malformed(file, [{ field: "", description: messageOf(error), reason: "MISTYPED" }]);
  }
}

/** Writes a spec in snake_case. Reading it again gives the same spec. */
export function formatSpec(spec: AgentSpec, format: "yaml" | "json"): string {
  const json: JsonValue = toJson(AgentSpecSchema, spec, { useProtoFieldName: true });
  return format === "json"
    ? `${JSON.stringify(json, null, 2)}\n`
    : stringify(json, { lineWidth: 0 });
}

function readMapping(text: string, file: string): JsonObject {
  const document = parseDocument(text, { stringKeys: true });
  const syntax = [...document.errors, ...document.warnings].map(({ message }) =>
    syntaxError(message),
  );
  if (syntax.length > 0) throw malformed(file, syntax);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // An alias of nothing, or so many that the file would explode.
    throw malformed(file, [syntaxError(messageOf(error))]);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const description = "an agent spec is a mapping of fields";
    throw malformed(file, [{ field: "", description, reason: "MISTYPED" }]);
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

function malformed(file: string, violations: readonly Violation[]): Failure {
  const list = violations.map(({ field, description }) =>
    field === "" ? description : `${field}: ${description}`,
  );
  return new Failure(
    "invalid",
    ErrorReason.INVALID_AGENT,
    `${file} is no agent spec: ${list.join("; ")}`,
    { violations },
  );
}
