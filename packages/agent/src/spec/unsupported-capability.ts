import type { AgentSpec } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";

/**
 * The fields of a spec that this version does not support. A spec that sets one is rejected by the field's name, never accepted
 * without effect. Delete a line when its field is supported.
 */
const unsupported: readonly (readonly [field: string, isSet: (spec: AgentSpec) => boolean])[] = [
  ["delegates", (spec) => spec.delegates.length > 0],
];

export const unsupportedCapability = "UNSUPPORTED_CAPABILITY";

/** Returns a violation for each field of `spec` that this version does not support. */
export function unsupportedFields(spec: AgentSpec): readonly Violation[] {
  const fields = unsupported.filter(([, isSet]) => isSet(spec)).map(([field]) => field);
  return fields.map((field) => ({
    field,
    description: `${field} is not supported by this version; leave it out`,
    reason: unsupportedCapability,
  }));
}
