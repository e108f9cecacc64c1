import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { nameOfAgent, nameOfApproval } from "../../format/names.ts";
import { msOf } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Ago } from "../../ui/times.tsx";
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
  const closed = (data?.approvals ?? []).filter(({ state }) => state !== ApprovalState.PENDING);
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
            <th scope="col">Proof</th>
          </tr>
        </thead>
        <tbody>
          {closed.toReversed().map(({ approvalId, state, call, runId, decision, ...approval }) => (
            <tr key={approvalId}>
              <td>
                <Badge {...nameOfApproval(state)} />
              </td>
              <td>
                <Link to="/runs/$runId/{-$view}" params={{ runId }} className="row-link mono">
                  {call?.name}
                </Link>
                {decision?.editedArguments !== undefined && (
                  <span className="sub">with other arguments</span>
                )}
              </td>
              <td>{nameOfAgent(approval)}</td>
              <td>
                {decision?.decidedBy ?? "–"}
                {decision?.breakGlass !== undefined && <span className="sub">by break-glass</span>}
                {decision?.appliedGrant !== undefined && (
                  <span className="sub mono">with grant {decision.appliedGrant.rule}</span>
                )}
              </td>
              <td>
                <Ago ms={msOf(decision?.decidedAt)} />
              </td>
              <td className="wrap">{decision?.reason}</td>
              <td className="row-action">
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
