import { OnMissed } from "@reeve/contracts/trigger";
import { HintedInput } from "../agents/hinted-input.tsx";
import { Field } from "./field.tsx";
import type { TriggerDraft } from "./trigger-draft.ts";
import { missedChoices } from "./trigger-names.ts";
import type { FieldProblems } from "./trigger-problem.ts";

const schedules = [
  ["0 * * * *", "every hour"],
  ["0 2 * * *", "every day at 2:00"],
  ["0 9 * * 1-5", "every weekday at 9:00"],
  ["0 9 * * 1", "every Monday at 9:00"],
  ["0 6 1 * *", "on the first day of each month at 6:00"],
] as const;

interface ScheduleFieldsProps {
  readonly draft: TriggerDraft;
  readonly problems: FieldProblems;
  readonly change: (part: Partial<TriggerDraft>) => void;
}

/** When a schedule fires. */
export function ScheduleFields({ draft, problems, change }: ScheduleFieldsProps) {
  return (
    <>
      <Field
        label="Cron expression"
        problem={problems.cron}
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
      <Field label="Time zone" problem={problems.timeZone}>
        {(id) => (
          <HintedInput
            id={id}
            hints={["UTC", ...Intl.supportedValuesOf("timeZone")]}
            value={draft.timeZone === "" ? "UTC" : draft.timeZone}
            onChange={(timeZone) => change({ timeZone })}
          />
        )}
      </Field>
      <Field label="For times that passed while no gateway ran" problem={problems.onMissed}>
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
      <Field label="Delay each firing by at most, in seconds" problem={problems.jitterSeconds}>
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
