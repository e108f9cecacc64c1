import { Link } from "@tanstack/react-router";
import type { Approval } from "@reeve/contracts/approval";
import { msOf } from "../../format/time.ts";
import { useEffect, useRef } from "react";
import { argumentsLine } from "../approval/arguments-line.ts";
import { hasVoted, isMine } from "../approval/standing.ts";
import { Ago } from "../../ui/times.tsx";
import { CallName } from "../approval/call-name.tsx";
import { nameOfAgent, nameOfCall, questionOf } from "../../format/names.ts";

interface WaitingListProps {
  readonly approvals: readonly Approval[];
  /** Index of the one that is shown. */
  readonly at: number;
  /** Ids of those that are decided together. */
  readonly chosen: ReadonlySet<string>;
  /** Id of the one that was decided last. Empty: none was. */
  readonly decidedId: string;
  readonly onChoose: (approvalId: string, isChosen: boolean) => void;
}

/** The decisions that wait, to open one or to choose several. Those of others cannot be chosen, and neither can questions, which have answers of their own. */
export function WaitingList({ approvals, at, chosen, decidedId, onChoose }: WaitingListProps) {
  const list = useRef<HTMLOListElement>(null);
  // The buttons that had the focus are gone with the decision. The next one is shown a moment later.
  useEffect(() => {
    if (decidedId !== "") list.current?.focus();
  }, [decidedId]);
  const shownId = approvals[at]?.approvalId ?? "";
  useEffect(() => {
    if (shownId === "" || shownId === decidedId) return;
    if (document.activeElement !== list.current) return;
    list.current?.querySelector<HTMLElement>("[aria-current]")?.focus();
  }, [shownId, decidedId]);
  return (
    <ol ref={list} className="inbox-list" aria-label="Waiting decisions" tabIndex={-1}>
      {approvals.map(({ approvalId, call, requestedAt, question, runId, ...approval }, index) => (
        <li key={approvalId} className="inbox-row">
          {question === undefined && isMine(approval) ? (
            <input
              type="checkbox"
              aria-label={`Choose ${nameOfCall(call)} of ${nameOfAgent(approval)}, ${approvalId}`}
              checked={chosen.has(approvalId)}
              onChange={(event) => onChoose(approvalId, event.target.checked)}
            />
          ) : (
            <span aria-hidden="true">{question === undefined ? "" : "?"}</span>
          )}
          <Link
            to="/inbox/{-$approvalId}"
            params={{ approvalId }}
            search={true}
            className="inbox-item"
            aria-keyshortcuts={index === at + 1 ? "j" : index === at - 1 ? "k" : undefined}
            replace
          >
            <CallName call={call} />
            <span className="inbox-args">
              {question?.message ?? (questionOf(call) === undefined ? argumentsLine(call) : "")}
            </span>
            <span className="sub">
              <span>{nameOfAgent(approval)}</span>
              {question !== undefined && <span>question</span>}
              <span title={runId}>run …{runId.slice(-6)}</span>
              <Ago ms={msOf(requestedAt)} />
            </span>
            <span className={isMine(approval) ? "mine" : "muted"}>
              {isMine(approval) ? "for you" : hasVoted(approval) ? "you have voted" : "for others"}
            </span>
          </Link>
        </li>
      ))}
    </ol>
  );
}
