import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import type { Grant } from "@reeve/contracts/approval";
import { ApprovalService, GrantScope } from "@reeve/contracts/approval";
import { Permitted } from "../../access/permitted.tsx";
import { problemOf } from "../../api/problem.ts";
import { msOf } from "../../format/time.ts";
import { Disclosure } from "../../ui/disclosure.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { useNow } from "../../ui/use-now.ts";

const scopes: Readonly<Record<GrantScope, string>> = {
  [GrantScope.UNSPECIFIED]: "calls",
  [GrantScope.RUN]: "calls of the run",
  [GrantScope.THREAD]: "calls of the thread",
  [GrantScope.AGENT]: "all calls of the agent",
};

/** The rules by which calls are approved without asking again, each with who made it, and a way to end it. */
export function Grants() {
  return (
    <Disclosure className="closed" summary="Rules in force">
      <GrantTable />
    </Disclosure>
  );
}

function GrantTable() {
  const { data, error, refetch } = useQuery(
    ApprovalService.method.listGrants,
    { pageSize: 1_000 },
    { refetchInterval: 5_000 },
  );
  const now = useNow();
  if (error !== null) {
    return <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />;
  }
  const grants = (data?.grants ?? []).filter((grant) => isInForce(grant, now));
  if (grants.length === 0) {
    return (
      <p className="muted">
        No rule is in force: each call is decided for itself. A rule is made with a decision: choose
        “Approve further calls, too” at a call that waits for you.
      </p>
    );
  }
  return (
    <div className="table-box">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">For</th>
            <th scope="col">Made by</th>
            <th scope="col">Used</th>
            <th scope="col">Ends</th>
            <th scope="col">
              <span className="muted">Revoke</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {grants.map((grant) => (
            <tr key={grant.grantId}>
              <td className="wrap mono">{grant.rule}</td>
              <td className="wrap">
                {scopes[grant.scope]} <span className="mono">{grant.agentId}</span>
                <span className="muted"> revision {grant.agentRevision}</span>
              </td>
              <td>
                {grant.grantedBy} <Ago ms={msOf(grant.grantedAt)} />{" "}
                <span className="hint">
                  <Link to="/runs/$runId/{-$view}" params={{ runId: grant.runId }}>
                    in a run
                  </Link>
                </span>
              </td>
              <td className="tabular">
                {grant.uses.length} of {grant.maxUses}
              </td>
              <td>
                <Ago ms={msOf(grant.expiresAt)} />
              </td>
              <td>
                <Permitted method={ApprovalService.method.revokeGrant} action="Revoking">
                  <Revoke grantId={grant.grantId} onDone={() => void refetch()} />
                </Permitted>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function isInForce({ revokedAt, uses, maxUses, expiresAt }: Grant, nowMs: number): boolean {
  const ends = msOf(expiresAt) ?? Number.POSITIVE_INFINITY;
  return revokedAt === undefined && uses.length < maxUses && ends > nowMs;
}

function Revoke({ grantId, onDone }: { readonly grantId: string; readonly onDone: () => void }) {
  const revoke = useMutation(ApprovalService.method.revokeGrant);
  return (
    <>
      <button
        type="button"
        className="button danger"
        disabled={revoke.isPending}
        onClick={() => revoke.mutate({ grantId }, { onSuccess: () => onDone() })}
      >
        Revoke
      </button>
      {revoke.error !== null && <ProblemView problem={problemOf(revoke.error)} />}
    </>
  );
}
