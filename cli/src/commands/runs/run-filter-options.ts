import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { RunStatus } from "@reeve/client";
import type { RunFilterSchema } from "@reeve/contracts/run";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { UsageError } from "../../exit-code.ts";
import { parseTime } from "../parse-option.ts";
import { collectLabels } from "./labels.ts";

/** The options that select runs. */
export interface RunFilterOptions {
  readonly agent?: string;
  readonly thread?: string;
  readonly status?: readonly string[];
  readonly startedBy?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly since?: Date;
  readonly until?: Date;
  readonly minCost?: number;
  readonly text?: string;
}

export function addRunFilterOptions(command: Command): Command {
  return command
    .option("--agent <id>", "only runs of this agent")
    .option("--thread <id>", "only runs of this thread")
    .option("--status <status...>", "only runs with one of these statuses, for example waiting")
    .option("--started-by <subject>", "only runs that this person or program started")
    .option(
      "--label <name[=value]>",
      "only runs with this label, with any value if none is given (repeatable)",
      collectLabels,
    )
    .option(
      "--since <time>",
      "only runs that were accepted then or later: 1h ago, or 2030-01-31T00:00:00Z",
      parseTime,
    )
    .option(
      "--until <time>",
      "only runs that were accepted before then: 1h ago, or 2030-01-31T00:00:00Z",
      parseTime,
    )
    .option("--min-cost <dollars>", "only runs that ended and cost at least this much", parseCost)
    .option("--text <text>", "only runs with this text in their id or the start of their input");
}

/** Which runs the options ask for. */
interface SelectedRuns {
  readonly agentId?: string | undefined;
  readonly threadId?: string | undefined;
  readonly statuses: readonly RunStatus[];
  /** Left out if no option needs it, so that the command works with gateways that do not know filters. */
  readonly filter?: MessageInitShape<typeof RunFilterSchema>;
}

export function selectedRuns(options: RunFilterOptions): SelectedRuns {
  const { agent, thread, status = [], startedBy, label, since, until, minCost, text } = options;
  const filter = {
    ...(startedBy !== undefined && { startedBy }),
    ...(label && { labels: { ...label } }),
    ...(since && { createdAfter: timestampFromDate(since) }),
    ...(until && { createdBefore: timestampFromDate(until) }),
    ...(minCost !== undefined && { minCostUsd: minCost }),
    ...(text !== undefined && { text }),
  };
  return {
    agentId: agent,
    threadId: thread,
    statuses: [...new Set(status.map(parseStatus))],
    ...(Object.keys(filter).length > 0 && { filter }),
  };
}

function parseCost(text: string): number {
  const cost = Number(text);
  if (text.trim() !== "" && Number.isFinite(cost) && cost >= 0) return cost;
  throw new InvalidArgumentError("Use an amount in US dollars, for example 0.5.");
}

function parseStatus(text: string): RunStatus {
  const statuses = Object.entries(RunStatus).filter(([, number]) => number !== 0);
  const found = statuses.find(([name]) => name.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found[1];
  const names = statuses.map(([name]) => name.toLowerCase()).join(", ");
  throw new UsageError(`"${text}" is not a status; use one of: ${names}`);
}
