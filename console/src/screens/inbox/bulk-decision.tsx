import { useMutation } from "@connectrpc/connect-query";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalService } from "@reeve/contracts/approval";
import { useState } from "react";
import { newId } from "../../api/new-id.ts";
import { problemOf } from "../../api/problem.ts";
import { plural } from "../../format/amounts.ts";
import { ProblemView } from "../../ui/problem-view.tsx";

/** How many approvals one request decides at most. */
const maxDecided = 100;

interface BulkDecisionProps {
  readonly chosen: readonly Approval[];
  readonly onDecided: (approvalIds: readonly string[]) => void;
}

/** Decides the chosen calls alike, and says which decisions failed. */
export function BulkDecision({ chosen, onDecided }: BulkDecisionProps) {
  const [reason, setReason] = useState("");
  const decide = useMutation(ApprovalService.method.decideApprovals);
  const failed = decide.data?.results.filter(({ error }) => error !== undefined) ?? [];
  const submit = (approved: boolean) =>
    decide.mutate(
      {
        decided: chosen.map(({ approvalId, callDigest }) => ({ approvalId, callDigest })),
        approved,
        reason,
        decisionId: newId(),
      },
      {
        onSuccess: ({ results }) => {
          const decided = results.filter(({ error }) => error === undefined);
          onDecided(decided.map(({ approvalId }) => approvalId));
        },
      },
    );
  if (chosen.length === 0 && failed.length === 0) return null;
  const isDisabled = decide.isPending || chosen.length === 0 || chosen.length > maxDecided;
  return (
    <section className="bulk" aria-label="Decision about several calls">
      <p>
        {plural(chosen.length, "decision")} chosen
        {chosen.length > maxDecided && `; choose ${maxDecided} at most`}
      </p>
      <label className="field">
        <span>Reason for all (the model reads it if you reject)</span>
        <input
          className="input"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      <div className="row">
        <button
          type="button"
          className="button primary"
          disabled={isDisabled}
          onClick={() => submit(true)}
        >
          Approve all chosen
        </button>
        <button
          type="button"
          className="button danger"
          disabled={isDisabled}
          onClick={() => submit(false)}
        >
          Reject all chosen
        </button>
      </div>
      {decide.error !== null && <ProblemView problem={problemOf(decide.error)} />}
      {failed.length > 0 && (
        <ul role="alert">
          {failed.map(({ approvalId, error }) => (
            <li key={approvalId}>
              <span className="mono">{approvalId}</span>: {error?.message}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
