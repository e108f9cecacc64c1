import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { RunService, RunStatus } from "@reeve/contracts/run";
import { useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { isTerminal } from "../../format/names.ts";
import type { RunModel } from "../../run/run-model.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Permitted } from "../../access/permitted.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";

/** Cancel for a run in progress, retry for one that failed. */
export function RunActions({ run }: { readonly run: RunModel }) {
  if (run.status === RunStatus.ERROR) {
    return (
      <Permitted method={RunService.method.retryRun} action="Continuing the run">
        <Retry runId={run.runId} />
      </Permitted>
    );
  }
  if (run.status === RunStatus.UNSPECIFIED || isTerminal(run.status)) return null;
  return (
    <Permitted method={RunService.method.cancelRun} action="Cancelling the run">
      <Cancel runId={run.runId} />
    </Permitted>
  );
}

function Cancel({ runId }: { readonly runId: string }) {
  const [reason, setReason] = useState("");
  const cancel = useMutation(RunService.method.cancelRun);
  return (
    <Dialog
      label="Cancel run"
      title="Cancel this run?"
      confirm="Cancel run"
      isDanger
      isBusy={cancel.isPending}
      onConfirm={(close) => cancel.mutate({ runId, reason }, { onSuccess: close })}
    >
      <p>Its work is stopped. What it has done stays, and it cannot be continued.</p>
      <label className="field">
        <span>Reason (optional)</span>
        <input
          className="input"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      {cancel.error !== null && <ProblemView problem={problemOf(cancel.error)} />}
    </Dialog>
  );
}

function Retry({ runId }: { readonly runId: string }) {
  const navigate = useNavigate();
  const retry = useMutation(RunService.method.retryRun);
  const onClick = () =>
    retry.mutate(
      { runId },
      {
        onSuccess: ({ run }) => {
          if (run === undefined) return;
          void navigate({ to: "/runs/$runId/{-$view}", params: { runId: run.runId } });
        },
      },
    );
  return (
    <div>
      <button type="button" className="button" disabled={retry.isPending} onClick={onClick}>
        Continue in a new run
      </button>
      {retry.error !== null && <ProblemView problem={problemOf(retry.error)} />}
    </div>
  );
}
