import { toBinary } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";

/** The maximum number of entries of a list or mapping of a spec. */
const maxEntries = 1_000;
/** The maximum size of a spec in binary: below the size of a record that every store accepts. */
const maxBytes = 512 * 1024;

/** Returns a violation for each list or mapping of a spec that is too long, and for a spec that is too large. */
export function sizeViolations(spec: AgentSpec): readonly Violation[] {
  const lists = AgentSpecSchema.fields.flatMap((field): readonly Violation[] => {
    const entries = entriesOf(spec[field.localName as keyof AgentSpec]);
    if (entries <= maxEntries) return [];
    const description = `has ${entries} entries; the limit is ${maxEntries}`;
    return [{ field: field.name, description, reason: "TOO_MANY_ENTRIES" }];
  });
  if (lists.length > 0) return lists;
  const bytes = toBinary(AgentSpecSchema, spec).length;
  if (bytes <= maxBytes) return [];
  const description = `has ${bytes} bytes, of which ${largest(spec)} has the largest part; the limit is ${maxBytes}`;
  return [{ field: largest(spec), description, reason: "TOO_LARGE" }];
}

function entriesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  if (Array.isArray(value)) return value.length;
  // `google.protobuf.ListValue`.
  if ("values" in value && Array.isArray(value.values)) return value.values.length;
  return Object.keys(value).length;
}

/** Returns the name of the field that has most of the bytes of a spec. */
function largest(spec: AgentSpec): string {
  const sizes = AgentSpecSchema.fields.map(({ name, localName }) => ({
    name,
    size: JSON.stringify(spec[localName as keyof AgentSpec], withoutBigints)?.length ?? 0,
  }));
  return sizes.toSorted((a, b) => b.size - a.size)[0]?.name ?? "";
}

function withoutBigints(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
