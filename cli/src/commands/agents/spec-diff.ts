import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/client";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { structuredPatch } from "diff";
import { formatAgentFile } from "../../files/agent-file.ts";
import type { Style } from "../../style.ts";
import { oneLine, plainText } from "../../render/plain-text.ts";

/** A field that two specs have different values of. */
export interface ChangedField {
  /** Path of the field, for example `budgets.max_depth`. */
  readonly field: string;
  /** Undefined if the field is not set. */
  readonly before?: JsonValue;
  readonly after?: JsonValue;
}

/** Returns the fields in which two specs differ, in alphabetical order. A list counts as one value. */
export function changedFields(before: AgentSpec, after: AgentSpec): readonly ChangedField[] {
  return compare(jsonOf(before), jsonOf(after), "");
}

function jsonOf(spec: AgentSpec): JsonValue {
  return toJson(AgentSpecSchema, spec, { useProtoFieldName: true });
}

/** Returns the fields in which two values differ, in alphabetical order, each with its path after `field`. A list counts as one value. */
export function compare(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  field: string,
): readonly ChangedField[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
    return names.flatMap((name) =>
      compare(before[name], after[name], field === "" ? name : `${field}.${name}`),
    );
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [
    { field, ...(before !== undefined && { before }), ...(after !== undefined && { after }) },
  ];
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Lines around a change that are printed too. */
const context = 2;
/** Specs that differ in more lines are not compared line by line, which would take too long. */
const maxEditLength = 2_000;
const maxColumns = 400;

/** Returns the lines in which two specs differ as YAML, as a unified diff with `indent` before each line. */
export async function specDiff(
  before: AgentSpec,
  after: AgentSpec,
  { style, indent = "" }: { readonly style: Style; readonly indent?: string },
): Promise<string> {
  const texts = [await formatAgentFile(before), await formatAgentFile(after)] as const;
  const patch = structuredPatch("", "", ...texts, "", "", { context, maxEditLength });
  const lines = patch?.hunks.flatMap(({ lines: inHunk }, index) =>
    index === 0 ? inHunk : ["  ⋯", ...inHunk],
  ) ?? [`  more than ${maxEditLength} lines differ`];
  return lines.map((line) => `${indent}${styled(line, style)}\n`).join("");
}

function styled(line: string, style: Style): string {
  // Spaces at the start of a line show where its value belongs.
  const text = plainText(line.replaceAll("\t", "  "));
  const short = text.length <= maxColumns ? text : `${text.slice(0, maxColumns - 1)}…`;
  if (line.startsWith("+")) return style("green", short);
  return line.startsWith("-") ? style("red", short) : short;
}

/** Returns the number of fields in which two specs differ, and the names of the first of them. */
export function changedNames(fields: readonly ChangedField[]): string {
  const names = fields.slice(0, 5).map(({ field }) => oneLine(field, 64));
  const more = fields.length > names.length ? `, and ${fields.length - names.length} more` : "";
  return names.join(", ") + more;
}
