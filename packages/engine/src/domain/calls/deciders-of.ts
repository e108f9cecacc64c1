import type { MessageInitShape } from "@bufbuild/protobuf";
import { alternativeName } from "@reeve/agent/deciders/alternative-name";
import { unreachableWithout } from "@reeve/agent/deciders/decider-problems";
import type { FilteredCall } from "@reeve/agent/deciders/decision-filter";
import { filterApplies } from "@reeve/agent/deciders/decision-filter";
import { runContextOf } from "@reeve/agent/resolve/resolve-agent";
import type { AlternativeSchema } from "@reeve/contracts/approval";
import type { ToolCall } from "@reeve/contracts/tool";
import { roleName } from "@reeve/platform/rpc/roles";
import { oldestFirst } from "@reeve/run/head/linked";
import type { RunState } from "../state/run-state.ts";

/** Who decides on a call. */
export interface Deciders {
  readonly alternatives: readonly MessageInitShape<typeof AlternativeSchema>[];
  readonly excludedSubjects: readonly string[];
}

/** Returns who decides on a call by the agent's policy, or why nobody can. */
export function decidersOf(state: RunState, call: ToolCall): Deciders | string {
  const policy = state.head.created?.spec?.approvalPolicy;
  if (policy === undefined) return { alternatives: [], excludedSubjects: [] };
  const excluded = excludedSubjects(state);
  const seen = filteredCall(state, call);
  const applying = policy.alternatives
    .map((alternative, index) => ({ alternative, name: alternativeName(alternative, index) }))
    .filter(({ alternative: { filter } }) => filterApplies(filter, seen));
  if (policy.alternatives.length > 0 && applying.length === 0)
    return "nobody may approve this call: no alternative of approval_policy applies to it";
  const unreachable = unreachableWithout(
    applying.map(({ alternative }) => alternative),
    excluded,
  );
  if (unreachable !== undefined) return unreachable;
  // Without a list, everyone may decide whom the policy does not exclude.
  return {
    alternatives: applying.map(({ name, alternative: { people, groups, filter, ...counts } }) => ({
      name,
      people,
      groups,
      filter,
      approvals: Math.max(counts.approvals, 1),
      denials: Math.max(counts.denials, 1),
    })),
    excludedSubjects: [...excluded],
  };
}

/** Whether an alternative with this filter applies to a call. */
export function appliesTo(state: RunState, filter: string, call: ToolCall): boolean {
  return filterApplies(filter, filteredCall(state, call));
}

function excludedSubjects({ head: { created, messages } }: RunState): ReadonlySet<string> {
  const policy = created?.spec?.approvalPolicy;
  const requesters = [
    created?.startedBy ?? "",
    ...oldestFirst(messages).map(({ submittedBy }) => submittedBy),
  ];
  const excluded = [
    ...(policy?.excludeRequester ? requesters : []),
    ...(policy?.excludeAuthor ? [created?.agentAuthor ?? ""] : []),
  ];
  return new Set(excluded.filter((subject) => subject !== ""));
}

function filteredCall({ head: { created } }: RunState, call: ToolCall): FilteredCall {
  return {
    tool: call.name,
    arguments: call.arguments ?? {},
    agent: { id: created?.agentId ?? "", revision: created?.agentRevision ?? 0 },
    requester: {
      subject: created?.startedBy ?? "",
      roles: (created?.startedByRoles ?? []).map(roleName),
    },
    channel: created === undefined ? "plain" : runContextOf(created),
  };
}
