import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { Approval, Decision, Vote } from "@reeve/contracts/approval";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { nameOfAgent, nameOfApproval } from "../../format/names.ts";
import { votersOf } from "../../format/voters.ts";
import { msOf } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { argumentsLine } from "../approval/arguments-line.ts";
import { CallName } from "../approval/call-name.tsx";
import { Clock } from "../../ui/times.tsx";
import { ReceiptButton } from "./receipt-button.tsx";

/** What was decided, by whom, and why. */
export function ClosedApprovals() {
  return (
    <Disclosure className="closed" summary="Decided before">
      <Decided />
    </Disclosure>
  );
}

function Decided() {
  const { data } = useQuery(ApprovalService.method.listApprovals, {
    includeClosed: true,
    pageSize: 200,
  });
  const closed = (data?.approvals ?? [])
    .filter(({ state }) => state !== ApprovalState.PENDING)
    .toSorted((one, other) => decidedAtMs(other) - decidedAtMs(one));
  if (closed.length === 0) return <p className="muted">Nothing was decided yet.</p>;
  return (
    <div className="table-box">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Outcome</th>
            <th scope="col">Call</th>
            <th scope="col">Agent</th>
            <th scope="col">Decided by</th>
            <th scope="col">When</th>
            <th scope="col">Reason</th>
            <th scope="col">Run and proof</th>
          </tr>
        </thead>
        <tbody>
          {closed.map(({ approvalId, state, call, runId, decision, votes, ...approval }) => (
            <tr key={approvalId}>
              <td>
                <Badge {...nameOfApproval(state)} />
              </td>
              <td>
                <Link to="/runs/$runId/{-$view}" params={{ runId }} className="row-link">
                  <CallName call={call} />
                </Link>
                <span className="sub arguments">
                  {argumentsLine(
                    decision?.editedArguments === undefined
                      ? call
                      : call && { ...call, arguments: decision.editedArguments },
                  )}
                </span>
                {decision?.editedArguments !== undefined && (
                  <span className="sub">with other arguments than the model gave</span>
                )}
              </td>
              <td>
                {nameOfAgent(approval)}
                <span className="sub mono">{runId}</span>
              </td>
              <td>
                {votersOf({ decision, votes }) || "–"}
                {decision?.breakGlass !== undefined && <span className="sub">by break-glass</span>}
                {decision?.appliedGrant !== undefined && (
                  <span className="sub mono">with grant {decision.appliedGrant.rule}</span>
                )}
              </td>
              <td>
                <Clock ms={msOf(decision?.decidedAt)} />
              </td>
              <td className="wrap">{reasonsOf(decision, votes)}</td>
              <td className="row-action">
                <Link to="/runs/$runId/{-$view}" params={{ runId }}>
                  Run
                </Link>{" "}
                {decision !== undefined && call !== undefined && (
                  <ReceiptButton runId={runId} callId={call.callId} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Without a decision, as when the time ran out, the end is not known; the time of asking stands for it. */
function decidedAtMs({ decision, requestedAt }: Approval): number {
  return msOf(decision?.decidedAt) ?? msOf(requestedAt) ?? 0;
}

/** The reasons of all votes, each with its person if there are several. */
function reasonsOf(decision: Decision | undefined, votes: readonly Vote[]): string {
  if (votes.length < 2) return decision?.reason ?? "";
  return votes
    .flatMap((vote) => vote.decision ?? [])
    .map(({ decidedBy, approved, reason }) => {
      const what = approved ? "approved" : "rejected";
      return reason === "" ? `${decidedBy} ${what}` : `${decidedBy} ${what}: ${reason}`;
    })
    .join("; ");
}
