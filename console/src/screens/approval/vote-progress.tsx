import type { Approval } from "@reeve/contracts/approval";
import { msOf } from "../../format/time.ts";
import { Clock } from "../../ui/times.tsx";
import { nameOfGroup, namesOf } from "./standing.ts";

interface VoteProgressProps {
  readonly approval: Pick<
    Approval,
    "alternatives" | "excludedSubjects" | "unseenGroups" | "votes" | "state"
  >;
}

/** Who may decide, how far the votes are, and who voted what. Nothing if any one person may decide. */
export function VoteProgress({ approval }: VoteProgressProps) {
  const { alternatives, excludedSubjects, unseenGroups } = approval;
  if (alternatives.length === 0 && excludedSubjects.length === 0) return null;
  return (
    <>
      <ul className="votes" aria-label="Who decides">
        {alternatives.map((each) => (
          <Rule key={each.name} alternative={each} />
        ))}
        {excludedSubjects.length > 0 && <li>not {excludedSubjects.join(", ")}</li>}
        {unseenGroups.length > 0 && (
          <li role="alert">
            it seems that nobody can decide: nobody of {unseenGroups.map(nameOfGroup).join(", ")}{" "}
            has used the inbox for seven days
          </li>
        )}
      </ul>
      <Votes approval={approval} />
    </>
  );
}

function Rule({ alternative }: { readonly alternative: Approval["alternatives"][number] }) {
  const { name, filter, approvals, approvalsGiven, denials, denialsGiven } = alternative;
  const missing = Math.max(0, approvals - approvalsGiven);
  return (
    <li>
      <strong>{name}</strong>
      {filter !== "" && <span className="mono"> ({filter})</span>}: {approvalsGiven} of {approvals}{" "}
      approved
      {denials > 1 || denialsGiven > 0 ? `, ${denialsGiven} of ${denials} rejected` : ""}
      {missing > 0 && `; needs ${missing}${approvalsGiven > 0 ? " more" : ""} of`}
      {missing > 0 ? ` ${namesOf(alternative)}` : ` by ${namesOf(alternative)}`}
    </li>
  );
}

/** Who voted what, when, and why, oldest first. */
export function Votes({ approval: { votes } }: { readonly approval: Pick<Approval, "votes"> }) {
  if (votes.length === 0) return null;
  return (
    <ul className="votes" aria-label="Votes">
      {votes.flatMap(({ decision }) =>
        decision === undefined
          ? []
          : [
              <li key={decision.decidedBy}>
                <strong>{decision.decidedBy}</strong> {decision.approved ? "approved" : "rejected"}
                {decision.editedArguments !== undefined && " with other arguments"} at{" "}
                <Clock ms={msOf(decision.decidedAt)} />
                {decision.reason !== "" && `: ${decision.reason}`}
              </li>,
            ],
      )}
    </ul>
  );
}
