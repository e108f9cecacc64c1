import type { ApprovalPolicy, Reviewer } from "@reeve/contracts/agent";
import type { Approval } from "@reeve/contracts/approval";
import { GateKind } from "@reeve/contracts/approval";
import { PermissionClass } from "@reeve/contracts/tool";
import type { Violation } from "@reeve/platform/failure";
import { parseNamePattern } from "../tools/name-pattern.ts";
import { nameOfClass, permissionClassOf } from "../tools/permission-classes.ts";

/** Returns the reviewer of calls of a tool, or undefined. */
export function reviewerOf(
  policy: Pick<ApprovalPolicy, "reviewer"> | undefined,
  tool: string,
): Reviewer | undefined {
  const reviewer = policy?.reviewer;
  if (reviewer === undefined || reviewer.tools.length === 0) return reviewer;
  const isNamed = reviewer.tools.some((text) => parseNamePattern(text)?.matches(tool) ?? false);
  return isNamed ? reviewer : undefined;
}

/** What decides whether advice is a vote. */
type VotePolicy = Pick<ApprovalPolicy, "reviewer" | "excludeRequester" | "excludeAuthor">;

/** A call that a model may vote on, and what holds it. */
type HeldCall = Pick<Approval, "permissionClass" | "gates" | "permission">;

/**
 * Whether only people may open a gate of a call. The agent's own list of tools and its own rules permit a model. The operator's rules do
 * not, and a tool that a source renamed is not the one that the agent names. An approval of an earlier version does not say whose rules
 * ask, so any of them may be the operator's.
 */
function isForPeople(gate: GateKind, { permission }: HeldCall): boolean {
  if (gate === GateKind.TOOL) return false;
  if (gate !== GateKind.PERMISSION) return true;
  const sources = permission?.askingSources ?? [];
  return sources.length === 0 || sources.some((source) => source !== "agent");
}

/**
 * Whether the advice of a policy's reviewer is a vote on an approval. A model is no other person than the requester or the author, so
 * it never approves for them.
 */
export function reviewerVotes(
  policy: VotePolicy | undefined,
  call: HeldCall,
  approved: boolean,
): boolean {
  const { permissionClass, gates } = call;
  const votes = policy?.reviewer?.votes;
  if (votes === undefined || permissionClass === PermissionClass.UNSPECIFIED) return false;
  if (!votes.classes.includes(nameOfClass(permissionClass))) return false;
  if (!approved) return true;
  if (gates.some((gate) => isForPeople(gate, call))) return false;
  return !(votes.rejectsOnly || policy?.excludeRequester || policy?.excludeAuthor);
}

/** Returns the violations of the reviewer of a policy. */
export function reviewerProblems(policy: ApprovalPolicy): readonly Violation[] {
  return [...toolProblems(policy), ...voteProblems(policy), ...alternativeProblems(policy)];
}

function voteProblems({
  reviewer,
  excludeRequester,
  excludeAuthor,
  stepUp,
  alternatives,
  escalations,
}: ApprovalPolicy): readonly Violation[] {
  const votes = reviewer?.votes;
  if (votes === undefined) return [];
  const { classes, rejectsOnly } = votes;
  const found = classes.flatMap((name, index) =>
    permissionClassOf(name) === undefined
      ? [violation(`.classes[${index}]`, `"${name}" is no permission class`, "UNKNOWN")]
      : [],
  );
  if (classes.length === 0)
    found.push(violation(".classes", "is required: name the classes of the calls", "REQUIRED"));
  const person = excludeRequester ? "exclude_requester" : excludeAuthor ? "exclude_author" : "";
  if (!rejectsOnly && person !== "") {
    const text = `approval_policy.${person} asks for another person, and a model is none; set rejects_only`;
    found.push(violation("", text, "CONTRADICTION"));
  }
  const confirmed = classes.find((name) => stepUp?.classes.includes(name));
  if (!rejectsOnly && confirmed !== undefined) {
    const text = `calls of class ${confirmed} need a passkey of a person; set rejects_only, or leave the class out`;
    found.push(violation(".classes", text, "CONTRADICTION"));
  }
  const all = [...alternatives, ...escalations.flatMap(({ alternative }) => alternative ?? [])];
  if (alternatives.length > 0 && !all.some((each) => each.reviewer)) {
    const text = "counts for no alternative; set `reviewer` of those for which it counts";
    found.push(violation("", text, "CONTRADICTION"));
  }
  return found;
}

function violation(at: string, description: string, reason: string): Violation {
  return { field: `approval_policy.reviewer.votes${at}`, description, reason };
}

function alternativeProblems({ reviewer, alternatives, escalations }: ApprovalPolicy) {
  if (reviewer?.votes !== undefined) return [];
  const described = "needs approval_policy.reviewer.votes, which names the classes of the calls";
  const problem = (field: string) => ({ field, description: described, reason: "CONTRADICTION" });
  return [
    ...alternatives.flatMap((each, index) =>
      each.reviewer ? [problem(`approval_policy.alternatives[${index}].reviewer`)] : [],
    ),
    ...escalations.flatMap(({ alternative }, index) =>
      alternative?.reviewer
        ? [problem(`approval_policy.escalations[${index}].alternative.reviewer`)]
        : [],
    ),
  ];
}

function toolProblems({ reviewer }: ApprovalPolicy): readonly Violation[] {
  return (reviewer?.tools ?? []).flatMap((text, index) =>
    parseNamePattern(text) === undefined
      ? [
          {
            field: `approval_policy.reviewer.tools[${index}]`,
            description: `"${text}" is empty or ends with an escape character`,
            reason: "MALFORMED",
          },
        ]
      : [],
  );
}
