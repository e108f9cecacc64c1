import { createHash } from "node:crypto";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import type { Tally } from "@reeve/jetstream/local-index/tallies";

/** Who may decide on an approval: the people and the groups of each alternative; empty for everyone with the role APPROVER. */
export type DeciderSets = readonly Pick<Approval["alternatives"][number], "people" | "groups">[];

/** The names of what approvals count for. */
export const tallyNames = {
  state: "state",
  agent: "agent",
  tool: "tool",
  deciders: "deciders",
  blocked: "blocked",
  asked: "asked",
  uncounted: "uncounted",
} as const;

/** How long the value of deciders may be, and how many people may be blocked, of an approval that is counted for people. */
const limits = { characters: 4_096, blocked: 1_000 };

/**
 * Returns what an approval counts for: its state and, while it is pending, its agent, its tool, who may decide, who of them may not, and who
 * may answer as the person who started the run. One that names too many people is not counted for any of them.
 */
export function talliesOf(approval: Approval): readonly Tally[] {
  const { state, agentId, call, alternatives, excludedSubjects, requestedBy, votes } = approval;
  const { state: ofState, agent, tool, deciders, blocked, asked, uncounted } = tallyNames;
  const tallies = [{ name: ofState, value: String(state) }];
  if (state !== ApprovalState.PENDING) return tallies;
  const sets = valueOfDeciders(alternatives);
  const voters = votes.flatMap(({ decision }) =>
    decision === undefined || decision.reviewer ? [] : decision.decidedBy,
  );
  const subjects = [...new Set([...excludedSubjects, ...voters])];
  const isAsked = isAgentQuestion(approval) && !subjects.includes(requestedBy);
  const isLarge = sets.length > limits.characters || subjects.length > limits.blocked;
  return [
    ...tallies,
    { name: agent, value: agentId },
    { name: tool, value: call?.name ?? "" },
    ...(isLarge
      ? [{ name: uncounted, value: "" }]
      : [
          { name: deciders, value: sets },
          ...subjects.map((subject) => ({ name: blocked, value: subjectValue(sets, subject) })),
          ...(isAsked ? [{ name: asked, value: subjectValue(sets, requestedBy) }] : []),
        ]),
  ];
}

/** Returns the value of approvals with these deciders for a person: who is excluded from them or has voted on them, or may answer them. */
export function subjectValue(deciders: string, subject: string): string {
  return `${createHash("sha256").update(deciders).digest("base64url")}\n${subject}`;
}

/** Returns the deciders of a value. */
export function decidersOf(value: string): DeciderSets {
  const sets: unknown = JSON.parse(value);
  return listOf(sets).map((set) => {
    const [people, groups] = listOf(set);
    return { people: listOf(people).map(String), groups: listOf(groups).map(String) };
  });
}

function valueOfDeciders(sets: DeciderSets): string {
  return JSON.stringify(sets.map(({ people, groups }) => [people, groups]));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
