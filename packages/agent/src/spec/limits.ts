import { create } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { AgentSpec, Limits } from "@reeve/contracts/agent";
import { BudgetsSchema, LimitsSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { parseMessageFile } from "./message-file.ts";

/** The budgets that are numbers: their names here and in a spec, and what holds when nobody says anything. */
const counted = [
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

const defaultRounds = 20;
const defaultWallClockMs = 180_000;

const limitsFile = {
  schema: LimitsSchema,
  noun: "file of limits",
  reason: ErrorReason.INVALID_REQUEST,
};

/**
 * Reads what no agent of a deployment may exceed. Throws a Failure with everything that is wrong with the file.
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

/** The limits that a run of the agent is prepared with: its own, as far as the deployment's maxima let it. */
export function limitsFor(spec: AgentSpec, maxima: Limits | undefined): Limits {
  const most = maxima?.budgets;
  const budgets = create(BudgetsSchema, { ...spec.budgets });
  for (const [name, , usual] of counted) {
    const value = bounded(budgets[name], most?.[name], usual);
    if (value !== undefined) budgets[name] = value;
  }
  const wallClock = boundedDuration(budgets.maxWallClock, most?.maxWallClock);
  if (wallClock !== undefined) budgets.maxWallClock = wallClock;
  const maxRounds = bounded(spec.maxRounds, maxima?.maxRounds, defaultRounds);
  return create(LimitsSchema, { budgets, ...(maxRounds !== undefined && { maxRounds }) });
}

/** Where an agent asks for more than the deployment allows. */
export function limitViolations(spec: AgentSpec, maxima: Limits | undefined): readonly Violation[] {
  const asked = spec.budgets;
  const most = maxima?.budgets;
  const pairs: readonly (readonly [string, number | undefined, number | undefined])[] = [
    ["max_rounds", spec.maxRounds, maxima?.maxRounds],
    ["budgets.max_wall_clock", secondsOf(asked?.maxWallClock), secondsOf(most?.maxWallClock)],
    ...counted.map(([name, field]) => [`budgets.${field}`, asked?.[name], most?.[name]] as const),
  ];
  return pairs.flatMap(([field, value, maximum]) =>
    value === undefined || maximum === undefined || value <= maximum
      ? []
      : [
          {
            field,
            reason: "ABOVE_MAXIMUM",
            description: `${value} is more than the ${maximum} that this deployment allows`,
          },
        ],
  );
}

/** An agent that says nothing has the usual limit, or the maximum where that is lower. */
function bounded(
  asked: number | undefined,
  maximum: number | undefined,
  usual: number | undefined,
): number | undefined {
  return maximum === undefined ? asked : Math.min(asked ?? usual ?? maximum, maximum);
}

function boundedDuration(
  asked: Duration | undefined,
  maximum: Duration | undefined,
): Duration | undefined {
  if (maximum === undefined) return asked;
  const askedMs = asked === undefined ? defaultWallClockMs : durationMs(asked);
  return askedMs > durationMs(maximum) ? maximum : asked;
}

function secondsOf(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : durationMs(duration) / 1000;
}
