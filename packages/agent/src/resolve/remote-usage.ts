import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { CostSummary } from "@reeve/contracts/run";

/**
 * The A2A extension with which a Reeve reports what a task has used so far. It is a key of the metadata of a task and of its status
 * updates; its value is a RemoteUsage as JSON.
 */
export const usageExtension = "https://reeve.dev/a2a/usage/v1";

/** What a task has used since it began. */
export interface RemoteUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input tokens that were read from and written to providers' caches. */
  readonly cachedInputTokens: number;
  readonly cacheWriteInputTokens: number;
  /** US dollars. Undefined: a model without a price was called. */
  readonly costUsd?: number | undefined;
}

/** Nothing was used, at no cost. */
export const noRemoteUsage: RemoteUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  costUsd: 0,
};

/** Returns a usage as it is reported. */
export function usageMetadata(usage: RemoteUsage | CostSummary): JsonObject {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteInputTokens, costUsd } = usage;
  const tokens = { inputTokens, outputTokens, cachedInputTokens, cacheWriteInputTokens };
  return { [usageExtension]: { ...tokens, ...(costUsd !== undefined && { costUsd }) } };
}

/** No task uses more: a larger number is an error of the remote agent. */
const maxTokens = 1e9;
const maxCostUsd = 1e6;

/** Returns the usage that metadata of a remote agent reports. Undefined: none, or one that is not possible. */
export function usageIn(metadata: Readonly<Record<string, unknown>> | undefined) {
  // The SDK parsed JSON.
  const value = metadata?.[usageExtension] as JsonValue | undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const count = (name: string) => value[name] ?? 0;
  const counts = {
    inputTokens: count("inputTokens"),
    outputTokens: count("outputTokens"),
    cachedInputTokens: count("cachedInputTokens"),
    cacheWriteInputTokens: count("cacheWriteInputTokens"),
  };
  if (!areCounts(counts)) return undefined;
  const { costUsd } = value;
  if (costUsd === undefined) return counts;
  const isCost = typeof costUsd === "number" && costUsd >= 0 && costUsd <= maxCostUsd;
  return isCost ? { ...counts, costUsd } : undefined;
}

function areCounts<Name extends string>(
  counts: Readonly<Record<Name, JsonValue>>,
): counts is Readonly<Record<Name, number>> {
  return Object.values<JsonValue>(counts).every(
    (count) =>
      typeof count === "number" && Number.isInteger(count) && count >= 0 && count <= maxTokens,
  );
}

/**
 * Returns what a task has used since it reported `before`. A report that is lower than the one before adds nothing. The cost is unknown if
 * either report has none.
 */
export function usageSince(before: RemoteUsage, now: RemoteUsage): RemoteUsage {
  const grown = (name: Exclude<keyof RemoteUsage, "costUsd">) =>
    Math.max(0, now[name] - before[name]);
  const isPriced = before.costUsd !== undefined && now.costUsd !== undefined;
  return {
    inputTokens: grown("inputTokens"),
    outputTokens: grown("outputTokens"),
    cachedInputTokens: grown("cachedInputTokens"),
    cacheWriteInputTokens: grown("cacheWriteInputTokens"),
    ...(isPriced && { costUsd: Math.max(0, (now.costUsd ?? 0) - (before.costUsd ?? 0)) }),
  };
}
