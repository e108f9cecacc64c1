import { useQuery } from "@connectrpc/connect-query";
import type { Duration } from "@bufbuild/protobuf/wkt";
import type { ModelActivity as Activity } from "@reeve/contracts/operations";
import { OperationsService } from "@reeve/contracts/operations";
import { useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { formatCount, formatDollars } from "../../format/amounts.ts";
import { formatDuration } from "../../format/time.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { PlainTable } from "./plain-table.tsx";
import { RunIdLinks } from "./run-links.tsx";

/** The model calls of the last hour: how many, how long they took, what they cost, and which failed. */
export function ModelActivity({ mayShowAll }: { readonly mayShowAll: boolean }) {
  const [allTenants, setAllTenants] = useState(false);
  const { data, error, refetch } = useQuery(
    OperationsService.method.listModelActivity,
    { allTenants },
    { refetchInterval: 10_000 },
  );
  return (
    <div className="stack">
      {mayShowAll && (
        <div className="chips">
          <button
            type="button"
            className="chip small"
            aria-pressed={allTenants}
            onClick={() => setAllTenants(!allTenants)}
          >
            all tenants
          </button>
        </div>
      )}
      {error !== null && <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />}
      {error === null && data?.models.length === 0 && (
        <p className="muted">No model was called in the last hour.</p>
      )}
      {error === null && data !== undefined && data.models.length > 0 && (
        <PlainTable
          label="Models"
          columns={[
            "Model",
            "#Calls",
            "#Failed",
            "Runs of failed calls",
            "#Half took",
            "#95 % took",
            "#Tokens in",
            "#out",
            "#Cost",
          ]}
        >
          {data.models.map((model) => (
            <ModelRow key={`${model.provider} ${model.model}`} model={model} />
          ))}
        </PlainTable>
      )}
    </div>
  );
}

function ModelRow({ model }: { readonly model: Activity }) {
  const { calls, failures, inputTokens, outputTokens, unpricedCalls } = model;
  return (
    <tr>
      <td>
        {model.model}
        <span className="sub">{model.provider}</span>
      </td>
      <td className="number">{formatCount(calls)}</td>
      <td className={failures > 0 ? "number bad" : "number"}>{formatCount(failures)}</td>
      <td>
        <RunIdLinks runIds={model.failedRunIds} />
      </td>
      <td className="number">{within(model.medianDuration, calls)}</td>
      <td className="number">{within(model.p95Duration, calls)}</td>
      <td className="number">{formatCount(Number(inputTokens))}</td>
      <td className="number">{formatCount(Number(outputTokens))}</td>
      <td className="number">
        {unpricedCalls > 0 && model.costUsd === 0 ? "not known" : formatDollars(model.costUsd)}
        {unpricedCalls > 0 && model.costUsd > 0 && (
          <span className="muted"> and {formatCount(unpricedCalls)} not known</span>
        )}
      </td>
    </tr>
  );
}

function within(duration: Duration | undefined, calls: number): string {
  if (calls === 0) return "–";
  if (duration === undefined) return "longer";
  return `≤ ${formatDuration(Number(duration.seconds) * 1_000 + duration.nanos / 1e6)}`;
}
