import type { JsonValue } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { canonicalJson } from "@reeve/contracts/digest/canonical-json";
import type { PluginDescriptor, StateKey, StatePatch } from "@reeve/contracts/extensions/plugin";
import { MergeMode } from "@reeve/contracts/extensions/plugin";

/** Returns the declaration of a key. Undefined: the plugin does not declare it. */
export function keyOf(
  descriptor: Pick<PluginDescriptor, "stateKeys"> | undefined,
  name: string,
): StateKey | undefined {
  return descriptor?.stateKeys.find((each) => each.name === name);
}

/** Returns a value as JSON. Undefined: it has no kind, or a number that JSON does not have. */
export function jsonOf(value: Value | undefined): JsonValue | undefined {
  if (value === undefined) return undefined;
  try {
    return toJson(ValueSchema, value);
  } catch {
    return undefined;
  }
}

/** Returns the value of a key after a patch. A sum that no number can hold stays as it was. The order of patches does not matter, unless only one plugin may change the key. */
export function merged(
  before: JsonValue | undefined,
  { value }: StatePatch,
  mode: MergeMode,
): JsonValue {
  const patch = jsonOf(value) ?? null;
  switch (mode) {
    case MergeMode.SUM:
      return finiteSum(typeof before === "number" ? before : 0, patch);
    case MergeMode.UNION: {
      const known = Array.isArray(before) ? before : [];
      const byText = new Map<string, JsonValue>();
      for (const each of [...known, ...(Array.isArray(patch) ? patch : [])]) {
        byText.set(canonicalJson(each), each);
      }
      return [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
    }
    case MergeMode.EXCLUSIVE:
    case MergeMode.UNSPECIFIED:
      return patch;
  }
  return patch;
}

function finiteSum(before: number, patch: JsonValue): number {
  const sum = before + (typeof patch === "number" ? patch : 0);
  return Number.isFinite(sum) ? sum : before;
}
