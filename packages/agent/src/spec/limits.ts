import { create } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import type { AgentSpec, Limits } from "@reeve/contracts/agent";
import { BudgetsSchema, LimitsSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { parseMessageFile } from "./message-file.ts";

/** The numeric budgets: their names here and in a spec, and their defaults. */
const numericBudgets = [
  ["maxDepth", "max_depth", 3],
  ["maxParallel", "max_parallel", 8],
  ["maxSubtasks", "max_subtasks", 32],
  ["maxLlmCalls", "max_llm_calls", 60],
  ["maxToolCalls", "max_tool_calls", 200],
  ["maxResultBytes", "max_result_bytes", 50_000],
  ["maxHistoryTokens", "max_history_tokens", 128_000],
  ["maxTotalTokens", "max_total_tokens", undefined],
  ["maxTotalBytes", "max_total_bytes", undefined],
  ["maxCostUsd", "max_cost_usd", undefined],
] as const;

const wallClockField = "budgets.max_wall_clock";
const defaultRounds = 20;
const defaultWallClockMs = 180_000;

const limitsFile = {
  schema: LimitsSchema,
  noun: "limits file",
  reason: ErrorReason.INVALID_REQUEST,
  // A limit without a value would be no limit.
  nulls: "refused",
} as const;

/**
 * Reads the limits that no agent of a deployment may exceed. Throws a Failure that lists every error of the file.
 *
 * ```yaml
 * max_rounds: 50
 * budgets:
 *   max_llm_calls: 200
 *   max_wall_clock: 900s
 *   max_cost_usd: 5
 * ```
 */
export function parseLimitsFile(text: string, file: string): Limits {
  return parseMessageFile(limitsFile, text, file);
}

/** Returns the limits that are set, by the field of the agent spec. Times are in milliseconds. */
export function limitValues(limits: Limits | undefined): ReadonlyMap<string, number> {
  const { budgets, maxRounds } = limits ?? {};
  const all: readonly (readonly [string, number | undefined])[] = [
    ["max_rounds", maxRounds],
    [wallClockField, budgets?.maxWallClock && durationMs(budgets.maxWallClock)],
    ...numericBudgets.map(([name, field]) => [`budgets.${field}`, budgets?.[name]] as const),
  ];
  return new Map(all.flatMap(([field, value]) => (value === undefined ? [] : [[field, value]])));
}

/** Returns the limits that have these values. `limitValues` returns them again. */
export function limitsOfValues(values: ReadonlyMap<string, number>): Limits {
  const budgets = create(BudgetsSchema);
  for (const [name, field] of numericBudgets) {
    const value = values.get(`budgets.${field}`);
    if (value !== undefined) budgets[name] = value;
  }
  const wallClockMs = values.get(wallClockField);
  if (wallClockMs !== undefined) budgets.maxWallClock = durationFromMs(wallClockMs);
  const maxRounds = values.get("max_rounds");
  return create(LimitsSchema, { budgets, ...(maxRounds !== undefined && { maxRounds }) });
}

/** Returns the limits for a run of the agent: its own, but at most the maxima of the deployment. */
export function limitsFor(spec: AgentSpec, maxima: Limits | undefined): Limits {
  const max = maxima?.budgets;
  const budgets = create(BudgetsSchema, { ...spec.budgets });
  for (const [name, , defaultValue] of numericBudgets) {
    const value = bounded(budgets[name], max?.[name], defaultValue);
    if (value !== undefined) budgets[name] = value;
  }
  const wallClock = boundedDuration(budgets.maxWallClock, max?.maxWallClock);
  if (wallClock !== undefined) budgets.maxWallClock = wallClock;
  const maxRounds = bounded(spec.maxRounds, maxima?.maxRounds, defaultRounds);
  return create(LimitsSchema, { budgets, ...(maxRounds !== undefined && { maxRounds }) });
}

/** Returns a violation for each limit of an agent that exceeds what the deployment allows. */
export function limitViolations(spec: AgentSpec, maxima: Limits | undefined): readonly Violation[] {
  const own = spec.budgets;
  const max = maxima?.budgets;
  const pairs: readonly (readonly [string, number | undefined, number | undefined])[] = [
    ["max_rounds", spec.maxRounds, maxima?.maxRounds],
    [wallClockField, secondsOf(own?.maxWallClock), secondsOf(max?.maxWallClock)],
    ...numericBudgets.map(
      ([name, field]) => [`budgets.${field}`, own?.[name], max?.[name]] as const,
    ),
  ];
  return pairs.flatMap(([field, value, maximum]) =>
    value === undefined || maximum === undefined || value <= maximum
      ? []
      : [
          {
            field,
            reason: "ABOVE_MAXIMUM",
            description: `${value} exceeds the maximum of this deployment, ${maximum}`,
          },
        ],
  );
}

/** Returns the limit for a value that may be unset: the default then, but at most the maximum. */
function bounded(
  value: number | undefined,
  maximum: number | undefined,
  defaultValue: number | undefined,
): number | undefined {
  return maximum === undefined ? value : Math.min(value ?? defaultValue ?? maximum, maximum);
}

function boundedDuration(
  value: Duration | undefined,
  maximum: Duration | undefined,
): Duration | undefined {
  if (maximum === undefined) return value;
  const valueMs = value === undefined ? defaultWallClockMs : durationMs(value);
  return valueMs > durationMs(maximum) ? maximum : value;
}

function secondsOf(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : durationMs(duration) / 1000;
}
