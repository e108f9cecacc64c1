import type { AgentSpec } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";
import { permissionSectionName } from "../permission/permission-levels.ts";

/**
 * The fields of a spec that this version does not support. A spec that sets one is rejected by the field's name, never accepted
 * without effect. Delete a line when its field is supported.
 */
const unsupported: readonly (readonly [field: string, isSet: (spec: AgentSpec) => boolean])[] = [
  ["plugin_ids", (spec) => spec.pluginIds.length > 0],
  ["delegates", (spec) => spec.delegates.length > 0],
  ["endpoint", (spec) => spec.endpoint !== undefined],
];

export const unsupportedCapability = "UNSUPPORTED_CAPABILITY";

/** Returns a violation for each field of `spec` that this version does not support. */
export function unsupportedFields(spec: AgentSpec): readonly Violation[] {
  const fields = unsupported.filter(([, isSet]) => isSet(spec)).map(([field]) => field);
  return [...fields, ...unsupportedSections(spec)].map((field) => ({
    field,
    description: `${field} is not supported by this version; leave it out`,
    reason: unsupportedCapability,
  }));
}

/** No plugin of this version claims another section. */
function unsupportedSections({ sections }: AgentSpec): readonly string[] {
  return Object.keys(sections)
    .filter((name) => name !== permissionSectionName)
    .slice(0, maxSections)
    .map((name) =>
      /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/.test(name)
        ? `sections.${name}`
        : `sections[${JSON.stringify(name.slice(0, 63))}]`,
    );
}

/** How many sections are listed. */
const maxSections = 20;
