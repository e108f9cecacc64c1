import { useQuery } from "@connectrpc/connect-query";
import { AgentService } from "@reeve/contracts/agent";
import { OnOverlap } from "@reeve/contracts/trigger";
import { useState } from "react";
import type { Problem } from "../../api/problem.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { HintedInput } from "../agents/hinted-input.tsx";
import { Field } from "./field.tsx";
import { ScheduleFields } from "./schedule-fields.tsx";
import type { TriggerDraft } from "./trigger-draft.ts";
import { divideProblem } from "./trigger-problem.ts";

interface TriggerFormProps {
  readonly draft: TriggerDraft;
  readonly isNew: boolean;
  readonly isReadOnly?: boolean;
  readonly isBusy: boolean;
  readonly problem: Problem | undefined;
  readonly label: string;
  readonly onSave: (draft: TriggerDraft) => void;
}

/** What a trigger does. The id and the kind of a trigger that exists do not change. */
export function TriggerForm(props: TriggerFormProps) {
  const { draft: stored, isNew, isReadOnly = false, isBusy, problem, label, onSave } = props;
  const [draft, setDraft] = useState(stored);
  const { fields, rest } = divideProblem(problem);
  const agents = useQuery(AgentService.method.listAgents, { pageSize: 1_000 }).data?.agents ?? [];
  const change = (part: Partial<TriggerDraft>) => setDraft((before) => ({ ...before, ...part }));
  const isChanged = isNew || JSON.stringify(draft) !== JSON.stringify(stored);
  const isWhole = draft.triggerId !== "" && draft.agentId !== "" && draft.input !== "";
  return (
    <form
      className="trigger-form"
      aria-label="Trigger"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(draft);
      }}
    >
      <fieldset className="plain-fieldset" disabled={isReadOnly}>
        {isNew && (
          <Field label="Id" problem={fields.triggerId}>
            {(id) => (
              <input
                id={id}
                className="input mono"
                placeholder="nightly-report"
                value={draft.triggerId}
                onChange={({ target }) => change({ triggerId: target.value })}
              />
            )}
          </Field>
        )}
        <Field label="Agent whose runs start" problem={fields.agentId}>
          {(id) => (
            <HintedInput
              id={id}
              hints={agents.map(({ spec }) => spec?.id ?? "")}
              value={draft.agentId}
              onChange={(agentId) => change({ agentId })}
            />
          )}
        </Field>
        <Field
          label="Input of the runs"
          problem={fields.input}
          about={
            draft.kind === "webhook"
              ? "{{body}} stands for the body of the webhook, {{body.issue.title}} for a value in it, {{time}} for the time, and {{trigger_id}} for the id."
              : "{{time}} stands for the time of the schedule, and {{trigger_id}} for the id."
          }
        >
          {(id) => (
            <textarea
              id={id}
              className="input"
              rows={4}
              value={draft.input}
              onChange={({ target }) => change({ input: target.value })}
            />
          )}
        </Field>
        {isNew && (
          <div className="chips" role="radiogroup" aria-label="What makes it fire">
            {(["schedule", "webhook"] as const).map((kind) => (
              <label key={kind} className="chip">
                <input
                  type="radio"
                  name="kind"
                  checked={draft.kind === kind}
                  onChange={() => change({ kind })}
                />
                {kind === "schedule" ? "A schedule" : "A signed webhook"}
              </label>
            ))}
          </div>
        )}
        {draft.kind === "schedule" && (
          <ScheduleFields draft={draft} problems={fields} change={change} />
        )}
        <Field label="If the last run has not ended" problem={fields.onOverlap}>
          {(id) => (
            <select
              id={id}
              className="input"
              value={draft.onOverlap}
              onChange={({ target }) =>
                change({ onOverlap: isAllow(target.value) ? OnOverlap.ALLOW : OnOverlap.SKIP })
              }
            >
              <option value={OnOverlap.SKIP}>start no run</option>
              <option value={OnOverlap.ALLOW}>start another one beside it</option>
            </select>
          )}
        </Field>
        <Field
          label="Labels of the runs, such as team=blue, separated by commas"
          problem={fields.labels}
        >
          {(id) => (
            <input
              id={id}
              className="input mono"
              value={draft.labels}
              onChange={({ target }) => change({ labels: target.value })}
            />
          )}
        </Field>
      </fieldset>
      {Object.keys(fields).length > 0 && (
        <p className="hint" role="alert">
          The trigger is not valid. What is wrong is said at each field.
        </p>
      )}
      {rest !== undefined && <ProblemView problem={rest} />}
      {!isReadOnly && (
        <div>
          <button
            type="submit"
            className="button primary"
            disabled={!isChanged || !isWhole || isBusy}
          >
            {label}
          </button>
        </div>
      )}
    </form>
  );
}

function isAllow(value: string): boolean {
  return value === String(OnOverlap.ALLOW);
}
