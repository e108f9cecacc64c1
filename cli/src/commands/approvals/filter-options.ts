import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ApprovalFilterSchema } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { Command } from "commander";
import { Option } from "commander";
import { parseTime } from "../parse-option.ts";

const states = {
  pending: ApprovalState.PENDING,
  approved: ApprovalState.APPROVED,
  rejected: ApprovalState.REJECTED,
  timed_out: ApprovalState.TIMED_OUT,
  withdrawn: ApprovalState.WITHDRAWN,
  superseded: ApprovalState.SUPERSEDED,
} as const;

/** The options that select approvals. */
export interface FilterOptions {
  readonly state?: readonly (keyof typeof states)[];
  readonly agent?: string;
  readonly tool?: string;
  readonly thread?: string;
  readonly requester?: string;
  readonly assignee?: string;
  readonly mine?: true;
  readonly person?: string;
  readonly group?: string;
  readonly olderThan?: Date;
  readonly youngerThan?: Date;
  readonly text?: string;
}

export function addFilterOptions(command: Command): void {
  command
    .addOption(
      new Option("--state <state...>", "only approvals in one of these states").choices(
        Object.keys(states),
      ),
    )
    .option("--agent <id>", "only calls of this agent")
    .option("--tool <name>", "only calls of this tool")
    .option("--thread <id>", "only calls of runs of this thread")
    .option("--requester <subject>", "only calls of runs that this person or program started")
    .option("--assignee <subject>", "only approvals that this person takes care of")
    .option("--mine", "only approvals that you may decide and have not voted on")
    .option("--person <subject>", "only approvals that name this person to decide")
    .option("--group <group>", "only approvals that name this group to decide")
    .option(
      "--older-than <time>",
      "only approvals that were requested before then: 1h ago, or 2030-01-31T00:00:00Z",
      parseTime,
    )
    .option(
      "--younger-than <time>",
      "only approvals that were requested then or later: 1h ago, or 2030-01-31T00:00:00Z",
      parseTime,
    )
    .option(
      "--text <text>",
      "only approvals with this text in the name of the tool, the arguments, or the question",
    );
}

/** Returns the filter that the options ask for. */
export function filterOf(options: FilterOptions): MessageInitShape<typeof ApprovalFilterSchema> {
  const { state, agent, tool, thread, requester, assignee, mine, person, group, text } = options;
  const { olderThan, youngerThan } = options;
  return {
    ...(state && { states: [...new Set(state)].map((each) => states[each]) }),
    ...(agent !== undefined && { agentId: agent }),
    ...(tool !== undefined && { tool }),
    ...(thread !== undefined && { threadId: thread }),
    ...(requester !== undefined && { requestedBy: requester }),
    ...(assignee !== undefined && { assignee }),
    ...(mine === true && { forMe: true }),
    ...(person !== undefined && { person }),
    ...(group !== undefined && { group }),
    ...(olderThan && { requestedBefore: timestampFromDate(olderThan) }),
    ...(youngerThan && { requestedAfter: timestampFromDate(youngerThan) }),
    ...(text !== undefined && { text }),
  };
}
