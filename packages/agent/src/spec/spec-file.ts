import type { JsonValue } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { stringify } from "yaml";
import { parseMessageFile } from "./message-file.ts";

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

/** Formats a spec with names in snake_case. `parseSpecFile` reads it back as the same spec. */
export function formatSpec(spec: AgentSpec, format: "yaml" | "json"): string {
  const json: JsonValue = toJson(AgentSpecSchema, spec, { useProtoFieldName: true });
  return format === "json"
    ? `${JSON.stringify(json, null, 2)}\n`
    : stringify(json, { lineWidth: 0 });
}
