import type { JsonValue } from "@bufbuild/protobuf";
import type { RunState } from "../state/run-state.ts";
import { outcomesAt } from "./hook-points.ts";
import { keyOf, merged } from "./merge-values.ts";
import type { HookOutcome, PluginState } from "./plugin-state.ts";
import { idOf } from "./plugin-state.ts";

/** Returns the values of all keys after the patches of hooks. */
export function valuesAfter(
  plugins: PluginState,
  outcomes: readonly HookOutcome[],
): ReadonlyMap<string, JsonValue> {
  const values = new Map<string, JsonValue>(plugins.values);
  for (const { pluginId, answer } of outcomes) {
    const pinned = plugins.pinned.find((each) => idOf(each) === pluginId);
    for (const patch of answer?.patches ?? []) {
      const key = keyOf(pinned?.plugin?.pluginDescriptor, patch.key);
      if (key !== undefined) values.set(key.name, merged(values.get(key.name), patch, key.merge));
    }
  }
  return values;
}

/** Returns the values of all keys as they will be when the hooks have ended that run beside those that have. */
export function valuesWithWaiting(
  state: RunState,
  plugins: PluginState,
): ReadonlyMap<string, JsonValue> {
  const waiting = [...plugins.outcomes].flatMap(([id, outcome]) => {
    if ((outcome.answer?.patches.length ?? 0) === 0) return [];
    return outcomesAt(state, id, outcome, outcome.pluginId) === undefined ? [outcome] : [];
  });
  return valuesAfter(plugins, waiting);
}
