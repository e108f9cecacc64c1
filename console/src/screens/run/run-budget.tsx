import { toJson } from "@bufbuild/protobuf";
import { Link } from "@tanstack/react-router";
import { ResolutionPlanSchema } from "@reeve/contracts/agent";
import { formatCount, formatDollars } from "../../format/amounts.ts";
import { formatDuration } from "../../format/time.ts";
import type { BudgetUse } from "../../run/budget-left.ts";
import { budgetUse, maxWorkMs } from "../../run/budget-left.ts";
import type { RunModel } from "../../run/run-model.ts";
import { JsonView } from "../../ui/content/json-view.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";

/** What is left of the budgets of a run, and what it was prepared with. */
export function RunBudget({ run }: { readonly run: RunModel }) {
  const { prepared } = run;
  if (prepared === undefined) return null;
  const uses = budgetUse(run);
  const gated = new Set(prepared.gatedTools);
  return (
    <Disclosure summary={<span className="muted">Budget left, model, and tools of this run</span>}>
      <dl className="facts prepared">
        {uses.map((use) => (
          <div key={use.name}>
            <dt>{use.name}</dt>
            <dd className="tabular">
              {amount(use, leftOf(use))} left
              <span className="muted"> of {amount(use, use.max)}</span>
              <meter
                aria-label={`Used ${use.name}`}
                min={0}
                max={use.max || 1}
                value={Math.min(use.used, use.max)}
              />
            </dd>
          </div>
        ))}
        <div>
          <dt>time of work</dt>
          <dd>at most {formatDuration(maxWorkMs(run))}</dd>
        </div>
        <div>
          <dt>model</dt>
          <dd className="mono">
            {prepared.model?.id}
            {prepared.planningModel !== undefined && `, planner: ${prepared.planningModel.id}`}
          </dd>
        </div>
      </dl>
      <h2>Tools that the model could call</h2>
      <ul className="tool-names">
        {prepared.tools.map(({ name }) => (
          <li key={name} className="label mono">
            {name}
            {gated.has(name) && " (asks)"}
          </li>
        ))}
      </ul>
      <p>
        <Link
          to="/agents/{-$agentId}"
          params={{ agentId: run.agentId }}
          search={{ part: "access" }}
        >
          What {run.agentId} may not use now, and why
        </Link>
        {prepared.policy === undefined && (
          <span className="muted"> No operator's policy applied to this run.</span>
        )}
      </p>
      {prepared.plan !== undefined && (
        <Disclosure name="plan" summary={<span className="muted">Resolved plan</span>}>
          <JsonView value={toJson(ResolutionPlanSchema, prepared.plan)} label="Resolved plan" />
        </Disclosure>
      )}
      {prepared.warnings.map((warning) => (
        <p key={warning} className="note warn">
          {warning}
        </p>
      ))}
    </Disclosure>
  );
}

/** What is left, in whole cents rounded down: a budget of which a part is used does not look whole. */
function leftOf({ isCost, max, used }: BudgetUse): number {
  const left = Math.max(0, max - used);
  return isCost && left >= 1 ? Math.floor(left * 100) / 100 : left;
}

function amount({ isCost }: BudgetUse, value: number): string {
  return isCost ? formatDollars(value) : formatCount(value);
}
