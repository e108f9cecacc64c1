import type { AgentSpec } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";

/**
 * What a spec can ask for and this version does not do. Each is refused by name, never ignored; a line is deleted when the
 * product honours its field.
 */
const unsupported: readonly (readonly [field: string, asks: (spec: AgentSpec) => boolean])[] = [
  ["plugin_ids", (spec) => spec.pluginIds.length > 0],
  ["sections", (spec) => Object.keys(spec.sections).length > 0],
  ["delegates", (spec) => spec.delegates.length > 0],
  ["endpoint", (spec) => spec.endpoint !== undefined],
];

export const unsupportedCapability = "UNSUPPORTED_CAPABILITY";

/** The fields of `spec` that this version does not honour. */
export function unsupportedFields(spec: AgentSpec): readonly Violation[] {
  const fields = unsupported.filter(([, asks]) => asks(spec)).map(([field]) => field);
  return fields.map((field) => ({
    field,
    description: `${field} is not supported by this version; leave it out`,
    reason: unsupportedCapability,
  }));
}
