import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Run } from "@reeve/contracts/run";
import { RunService, RunStatus } from "@reeve/contracts/run";
import { useRef } from "react";
import { runs as client } from "../../../api/transport.ts";
import { useAccess } from "../../../access/use-access.ts";
import { plural } from "../../../format/amounts.ts";
import { isTerminal } from "../../../format/names.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { useLeaving } from "../../../ui/use-leaving.ts";
import type { ActOnRun, RunResult } from "./act-on-runs.ts";
import { actOnRuns } from "./act-on-runs.ts";
import { RequestIds } from "./request-ids.ts";
import { runAgain } from "./run-again.ts";

/** How many runs one action changes at most: each is a request. */
export const maxChosen = 100;

const actions = {
  cancel: { name: "Cancel", done: "cancelled", isFor: ({ status }: Run) => !isTerminal(status) },
  again: {
    name: "Run again",
    done: "started again",
    isFor: ({ status }: Run) => isTerminal(status),
  },
  continue: {
    name: "Continue failed",
    done: "continued",
    isFor: ({ status }: Run) => status === RunStatus.ERROR,
  },
} as const;

type ActionName = keyof typeof actions;

interface BulkActionsProps {
  readonly chosen: readonly Run[];
  readonly onDone: () => void;
}

/** Cancels or repeats the chosen runs, and shows what became of each. */
export function BulkActions({ chosen, onDone }: BulkActionsProps) {
  const why = useAccess().whyNot(RunService.method.startRun);
  const leaving = useLeaving();
  const requestIds = useRef(new RequestIds());
  const acting = useMutation({
    mutationFn: async (name: ActionName) => {
      const ids = chosen.filter(actions[name].isFor).map(({ runId }) => runId);
      const results = await actOnRuns(ids, actOf(name, requestIds.current), leaving());
      return { name, results };
    },
    onSuccess: onDone,
  });
  if (chosen.length === 0 && acting.data === undefined) return null;
  return (
    <section className="run-bulk" aria-label="Chosen runs">
      <div className="row">
        <p>
          {plural(chosen.length, "run")} chosen
          {chosen.length >= maxChosen && `, which is the most that can be chosen`}
        </p>
        {why === undefined ? (
          (["cancel", "again", "continue"] as const).map((name) => {
            const count = chosen.filter(actions[name].isFor).length;
            return (
              count > 0 && (
                <Dialog
                  key={name}
                  label={`${actions[name].name} (${count})`}
                  title={`${actions[name].name}: ${plural(count, "run")}?`}
                  confirm={actions[name].name}
                  isDanger={name === "cancel"}
                  isBusy={acting.isPending}
                  onConfirm={(close) => acting.mutate(name, { onSettled: close })}
                >
                  <p>{explained[name]}</p>
                </Dialog>
              )
            );
          })
        ) : (
          <p className="hint">{why}</p>
        )}
      </div>
      {acting.data !== undefined && <Results {...acting.data} />}
    </section>
  );
}

const explained: Readonly<Record<ActionName, string>> = {
  cancel: "Their work is stopped. What they have done stays, and they cannot be continued.",
  again:
    "Each is started anew, outside of its thread, with the same input and files, and with its agent as it is now.",
  continue: "Each continues in a new run from its last good state.",
};

function actOf(name: ActionName, requestIds: RequestIds): ActOnRun {
  switch (name) {
    case "cancel":
      return async (runId, signal) => {
        await client.cancelRun({ runId, reason: "cancelled in the console" }, { signal });
        return undefined;
      };
    case "again":
      return (runId, signal) => requestIds.use(runId, (id) => runAgain(runId, id, signal));
    case "continue":
      return async (runId, signal) => (await client.retryRun({ runId }, { signal })).run?.runId;
  }
}

function Results({ name, results }: { name: ActionName; results: readonly RunResult[] }) {
  const failed = results.filter(({ problem }) => problem !== undefined);
  return (
    <div role="status">
      <p>
        {plural(results.length - failed.length, "run")} {actions[name].done}
        {failed.length > 0 && `, ${failed.length} not`}
      </p>
      <ul className="bulk-results">
        {results.map(({ runId, newRunId, problem }) => (
          <li key={runId}>
            <span className="mono">{runId}</span>{" "}
            {problem !== undefined && <span className="bad">{problem}</span>}
            {newRunId !== undefined && (
              <Link to="/runs/$runId/{-$view}" params={{ runId: newRunId }} className="mono">
                {newRunId}
              </Link>
            )}
            {problem === undefined && newRunId === undefined && actions[name].done}
          </li>
        ))}
      </ul>
    </div>
  );
}
