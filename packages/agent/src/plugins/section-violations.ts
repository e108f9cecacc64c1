import type { JsonValue } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { AgentSpec } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import type { z } from "zod";

/** The reason of each violation in a section that a plugin reads. */
export const invalidPluginConfig = "INVALID_PLUGIN_CONFIG";

/** The most problems of a section that are listed. */
const maxListed = 50;

/** Returns a section of a spec as JSON. Undefined: the spec does not have it. */
export function sectionOf(
  { sections }: Pick<AgentSpec, "sections">,
  name: string,
): JsonValue | undefined {
  const value = sections[name];
  if (value === undefined) return undefined;
  try {
    return toJson(ValueSchema, value);
  } catch {
    // A value without a kind, or a number that JSON does not have: only a broken client sends it. It is refused as no section.
    return null;
  }
}

/** Returns what is wrong with a section, each problem with its field. Empty: the section fits, or the spec does not have it. */
export function sectionViolations(
  spec: Pick<AgentSpec, "sections">,
  name: string,
  schema: z.ZodType,
): readonly Violation[] {
  const section = sectionOf(spec, name);
  if (section === undefined) return [];
  const parsed = schema.safeParse(section);
  if (parsed.success) return [];
  return parsed.error.issues.slice(0, maxListed).flatMap((issue) => {
    const paths =
      issue.code === "unrecognized_keys"
        ? issue.keys.slice(0, maxListed).map((key) => [...issue.path, key])
        : [issue.path];
    return paths.map((path) => ({
      field: fieldOf(name, path),
      description: issue.code === "unrecognized_keys" ? "unknown field" : issue.message,
      reason: invalidPluginConfig,
    }));
  });
}

function fieldOf(name: string, path: readonly PropertyKey[]): string {
  const rest = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`));
  return `${sectionField(name)}${rest.join("")}`;
}

/** Returns the path of a section. */
export function sectionField(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/.test(name)
    ? `sections.${name}`
    : `sections[${JSON.stringify(name.slice(0, 63))}]`;
}
