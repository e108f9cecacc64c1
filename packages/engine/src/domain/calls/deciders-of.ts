import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { alternativeName, escalationName } from "@reeve/agent/deciders/alternative-name";
import { unreachableWithout } from "@reeve/agent/deciders/decider-problems";
import { applyingFilters, maxFilterWork } from "@reeve/agent/deciders/decision-filter";
import { WorkBudget } from "@reeve/agent/schema/work-budget";
import type { ApprovalPolicy, DecisionAlternative } from "@reeve/contracts/agent";
import { DecisionAlternativeSchema } from "@reeve/contracts/agent";
import type { AlternativeSchema } from "@reeve/contracts/approval";
import type { RunCreated } from "@reeve/contracts/run";
import type { ToolCall } from "@reeve/contracts/tool";
import { filteredCall } from "@reeve/agent/deciders/filtered-call";
import { authorsOf } from "@reeve/run/head/authors-of";
import { requestersOf } from "@reeve/run/head/requesters-of";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { onceForCall, shareOf } from "./once-for-call.ts";

/** Who decides on a call. */
export interface Deciders {
  readonly alternatives: readonly MessageInitShape<typeof AlternativeSchema>[];
  readonly excludedSubjects: readonly string[];
  /** Who may decide later, earliest first. */
  readonly escalations: readonly PlannedEscalation[];
}

interface PlannedEscalation {
  readonly afterMs: number;
  /** Undefined: everyone may decide from the start. */
  readonly alternative: MessageInitShape<typeof AlternativeSchema> | undefined;
}

/** Returns who decides on a call by the agent's policy, or why nobody can. */
export function decidersOf(
  state: RunState,
  frame: Pick<Frame, "calls">,
  call: ToolCall,
): Deciders | string {
  const policy = state.head.created?.spec?.approvalPolicy;
  if (policy === undefined) return { alternatives: [], excludedSubjects: [], escalations: [] };
  const excluded = excludedSubjects(state);
  if (typeof excluded === "string") return excluded;
  const applies = appliedTo(state, frame, call, policy.alternatives);
  const applying = policy.alternatives
    .map((alternative, index) => ({ alternative, name: alternativeName(alternative, index) }))
    .filter((_, index) => applies[index]);
  if (policy.alternatives.length > 0 && applying.length === 0)
    return "nobody may approve this call: no alternative of approval_policy applies to it";
  const unreachable = unreachableWithout(
    applying.map(({ alternative }) => alternative),
    excluded,
  );
  if (unreachable !== undefined) return unreachable;
  // Without a list, everyone may decide whom the policy does not exclude.
  return {
    alternatives: applying.map(({ name, alternative }) => recorded(name, alternative)),
    excludedSubjects: [...excluded],
    escalations: escalationsOf(state, frame, call, policy),
  };
}

function recorded(
  name: string,
  { people, groups, filter, reviewer, ...counts }: DecisionAlternative,
): MessageInitShape<typeof AlternativeSchema> {
  return {
    name,
    people,
    groups,
    filter,
    reviewer,
    approvals: Math.max(counts.approvals, 1),
    denials: Math.max(counts.denials, 1),
  };
}

function escalationsOf(
  state: RunState,
  frame: Pick<Frame, "calls">,
  call: ToolCall,
  { alternatives, escalations }: ApprovalPolicy,
): readonly PlannedEscalation[] {
  if (escalations.length === 0) return [];
  const filters = escalations.map(({ alternative }) => ({ filter: alternative?.filter ?? "" }));
  const { calls } = frame;
  const applies = applyingNow(call, state.head.created, filters, calls.length);
  return escalations
    .map(({ after, alternative }, index) => ({
      afterMs: after === undefined ? 0 : durationMs(after),
      alternative:
        alternatives.length === 0
          ? undefined
          : recorded(escalationName(alternative ?? { name: "" }, index), alternative ?? anyone),
    }))
    .filter(({ afterMs }, index) => afterMs > 0 && applies[index])
    .toSorted((a, b) => a.afterMs - b.afterMs);
}

const anyone = create(DecisionAlternativeSchema);

/** Returns which of the alternatives apply to a call, each at its position. */
export function appliedTo(
  { head: { created } }: RunState,
  { calls }: Pick<Frame, "calls">,
  call: ToolCall,
  alternatives: readonly Filtered[],
): readonly boolean[] {
  return applied(call, created, alternatives, calls.length);
}

interface Filtered {
  readonly filter: string;
}

const applied = onceForCall(applyingNow);

function applyingNow(
  call: ToolCall,
  created: RunCreated | undefined,
  alternatives: readonly Filtered[],
  callsInTurn: number,
): readonly boolean[] {
  const filters = alternatives.map(({ filter }) => filter);
  const work = new WorkBudget(shareOf(maxFilterWork, callsInTurn));
  return applyingFilters(filters, filteredCall(created, call), work);
}

/** Returns who may not decide; or why nobody may: a person who is to be excluded is not known. */
function excludedSubjects({ head }: RunState): ReadonlySet<string> | string {
  const { created } = head;
  const policy = created?.spec?.approvalPolicy;
  const { startedBy = "" } = created ?? {};
  const authors = authorsOf(created);
  if (policy?.excludeAuthor === true && authors.includes("")) {
    return "nobody may approve this call: approval_policy.exclude_author is set, and it is not known who saved the agent; save the agent again";
  }
  if (policy?.excludeRequester === true && startedBy === "") {
    return "nobody may approve this call: approval_policy.exclude_requester is set, and it is not known who started the run";
  }
  const excluded = [
    ...(policy?.excludeRequester ? requestersOf(head) : []),
    ...(policy?.excludeAuthor ? authors : []),
  ];
  return new Set(excluded.filter((subject) => subject !== ""));
}
