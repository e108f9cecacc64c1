import { Link } from "@tanstack/react-router";
import type { Approval } from "@reeve/contracts/approval";
import { msOf } from "../../format/time.ts";
import { Ago } from "../../ui/times.tsx";
import { nameOfAgent } from "../../format/names.ts";

interface WaitingListProps {
  readonly approvals: readonly Approval[];
  /** Index of the one that is shown. */
  readonly at: number;
  /** Ids of those that are decided together. */
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (approvalId: string, isChosen: boolean) => void;
}

/** The decisions that wait, to open one or to choose several. Questions have answers of their own, and cannot be chosen. */
export function WaitingList({ approvals, at, chosen, onChoose }: WaitingListProps) {
  return (
    <ol className="inbox-list" aria-label="Waiting decisions">
      {approvals.map(({ approvalId, call, requestedAt, question, ...approval }, index) => (
        <li key={approvalId} className="inbox-row">
          {question === undefined ? (
            <input
              type="checkbox"
              aria-label={`Choose ${call?.name ?? "the call"} of ${nameOfAgent(approval)}, ${approvalId}`}
              checked={chosen.has(approvalId)}
              onChange={(event) => onChoose(approvalId, event.target.checked)}
            />
          ) : (
            <span aria-hidden="true">?</span>
          )}
          <Link
            to="/inbox/{-$approvalId}"
            params={{ approvalId }}
            search={true}
            className="inbox-item"
            aria-current={index === at ? "true" : undefined}
            aria-keyshortcuts={index === at + 1 ? "j" : index === at - 1 ? "k" : undefined}
            replace
          >
            <span className="mono">{call?.name}</span>
            <span className="sub">
              <span>{nameOfAgent(approval)}</span>
              <span>{question === undefined ? "call" : "question"}</span>
              <Ago ms={msOf(requestedAt)} />
            </span>
          </Link>
        </li>
      ))}
    </ol>
  );
}
