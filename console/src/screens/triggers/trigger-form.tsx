import { useQuery } from "@connectrpc/connect-query";
import { AgentService } from "@reeve/contracts/agent";
import { OnMissed, OnOverlap } from "@reeve/contracts/trigger";
import type { ReactNode } from "react";
import { useId, useState } from "react";
import type { Problem } from "../../api/problem.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { HintedInput } from "../agents/hinted-input.tsx";
import type { TriggerDraft } from "./trigger-draft.ts";
import { missedChoices } from "./trigger-names.ts";

interface TriggerFormProps {
  readonly draft: TriggerDraft;
  readonly isNew: boolean;
  readonly isReadOnly?: boolean;
  readonly isBusy: boolean;
  readonly problem: Problem | undefined;
  readonly label: string;
  readonly onSave: (draft: TriggerDraft) => void;
}

const schedules = [
  ["0 * * * *", "every hour"],
  ["0 2 * * *", "every day at 2:00"],
  ["0 9 * * 1-5", "every weekday at 9:00"],
  ["0 9 * * 1", "every Monday at 9:00"],
  ["0 6 1 * *", "on the first day of each month at 6:00"],
] as const;

/** What a trigger does. The id and the kind of a trigger that exists do not change. */
export function TriggerForm(props: TriggerFormProps) {
  const { draft: stored, isNew, isReadOnly = false, isBusy, problem, label, onSave } = props;
  const [draft, setDraft] = useState(stored);
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
          <Field label="Id">
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
        <Field label="Agent whose runs start">
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
        {draft.kind === "schedule" && <ScheduleFields draft={draft} change={change} />}
        <Field label="If the last run has not ended">
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
        <Field label="Labels of the runs, such as team=blue, separated by commas">
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
      {problem !== undefined && <ProblemView problem={problem} />}
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

interface ScheduleFieldsProps {
  readonly draft: TriggerDraft;
  readonly change: (part: Partial<TriggerDraft>) => void;
}

function ScheduleFields({ draft, change }: ScheduleFieldsProps) {
  return (
    <>
      <Field
        label="Cron expression"
        about="Minute, hour, day of the month, month, and day of the week."
      >
        {(id) => (
          <div className="row">
            <input
              id={id}
              className="input mono"
              value={draft.cron}
              onChange={({ target }) => change({ cron: target.value })}
            />
            <select
              className="input"
              aria-label="Common schedules"
              value={schedules.some(([cron]) => cron === draft.cron) ? draft.cron : ""}
              onChange={({ target }) => {
                if (target.value !== "") change({ cron: target.value });
              }}
            >
              <option value="">another schedule</option>
              {schedules.map(([cron, name]) => (
                <option key={cron} value={cron}>
                  {name}
                </option>
              ))}
            </select>
          </div>
        )}
      </Field>
      <Field label="Time zone">
        {(id) => (
          <HintedInput
            id={id}
            hints={["UTC", ...Intl.supportedValuesOf("timeZone")]}
            value={draft.timeZone === "" ? "UTC" : draft.timeZone}
            onChange={(timeZone) => change({ timeZone })}
          />
        )}
      </Field>
      <Field label="For times that passed while no gateway ran">
        {(id) => (
          <div className="row">
            <select
              id={id}
              className="input"
              value={draft.onMissed}
              onChange={({ target }) => {
                const chosen = missedChoices.find(([each]) => String(each) === target.value);
                if (chosen !== undefined) change({ onMissed: chosen[0] });
              }}
            >
              {missedChoices.map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
            {draft.onMissed === OnMissed.ALL && (
              <input
                className="input narrow"
                type="number"
                min="1"
                max="100"
                aria-label="How many missed times at most"
                placeholder="10"
                value={draft.maxMissed}
                onChange={({ target }) => change({ maxMissed: target.value })}
              />
            )}
          </div>
        )}
      </Field>
      <Field label="Delay each firing by at most, in seconds">
        {(id) => (
          <input
            id={id}
            className="input narrow"
            type="number"
            min="0"
            max="3600"
            placeholder="0"
            value={draft.jitterSeconds}
            onChange={({ target }) => change({ jitterSeconds: target.value })}
          />
        )}
      </Field>
    </>
  );
}

interface FieldProps {
  readonly label: string;
  readonly about?: string;
  readonly children: (id: string) => ReactNode;
}

function Field({ label, about = "", children }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {about !== "" && <span className="hint">{about}</span>}
    </div>
  );
}
