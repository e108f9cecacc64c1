import type { JsonValue } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { Failure, Violation } from "@reeve/platform/failure";
import { stringify } from "yaml";
import type { MessageFile } from "./message-file.ts";
import { malformedFile, parseMessageFile, readMessageFile } from "./message-file.ts";

const agentSpec = {
  schema: AgentSpecSchema,
  noun: "agent spec",
  reason: ErrorReason.INVALID_AGENT,
};

/**
 * Reads a spec from YAML or JSON (which is YAML), with names in snake_case or camelCase. Throws a Failure that lists every error
 * of its shape, each with its path: syntax errors, unknown fields, and values of the wrong type.
 */
export function parseSpecFile(text: string, file: string): AgentSpec {
  return parseMessageFile(agentSpec, text, file);
}

/** Reads a spec as `parseSpecFile` does, but returns the errors of its shape, so that others can be added. */
export function readSpecFile(text: string, file: string): MessageFile<typeof AgentSpecSchema> {
  return readMessageFile(agentSpec, text, file);
}

/** Returns the Failure for a file that holds no valid spec. */
export function malformedSpecFile(file: string, violations: readonly Violation[]): Failure {
  return malformedFile(agentSpec, file, violations);
}

/** Formats a spec with names in snake_case. `parseSpecFile` reads it back as the same spec. */
export function formatSpec(spec: AgentSpec, format: "yaml" | "json"): string {
  const json: JsonValue = toJson(AgentSpecSchema, spec, { useProtoFieldName: true });
  return format === "json"
    ? `${JSON.stringify(json, null, 2)}\n`
    : stringify(json, { lineWidth: 0 });
}
