import type { Trigger, TriggerSpec } from "@reeve/contracts/trigger";
import { FiringCause, FiringOutcome, OnMissed, TriggerState } from "@reeve/contracts/trigger";
import type { NamedTone } from "../../format/names.ts";

const states: Readonly<Record<TriggerState, NamedTone>> = {
  [TriggerState.UNSPECIFIED]: { name: "unknown", tone: "idle" },
  [TriggerState.ACTIVE]: { name: "active", tone: "ok" },
  [TriggerState.PAUSED]: { name: "paused", tone: "idle" },
  [TriggerState.STOPPED]: { name: "stopped", tone: "bad" },
};

export function nameOfState(state: TriggerState): NamedTone {
  return states[state] ?? states[TriggerState.UNSPECIFIED];
}

const outcomes: Readonly<Record<FiringOutcome, NamedTone>> = {
  [FiringOutcome.UNSPECIFIED]: { name: "unknown", tone: "idle" },
  [FiringOutcome.STARTING]: { name: "starting", tone: "busy" },
  [FiringOutcome.STARTED]: { name: "started", tone: "ok" },
  [FiringOutcome.SKIPPED]: { name: "skipped", tone: "idle" },
  [FiringOutcome.MISSED]: { name: "missed", tone: "wait" },
  [FiringOutcome.FAILED]: { name: "failed", tone: "bad" },
};

export function nameOfOutcome(outcome: FiringOutcome): NamedTone {
  return outcomes[outcome] ?? outcomes[FiringOutcome.UNSPECIFIED];
}

const causes: Readonly<Record<FiringCause, string>> = {
  [FiringCause.UNSPECIFIED]: "unknown",
  [FiringCause.SCHEDULE]: "schedule",
  [FiringCause.WEBHOOK]: "webhook",
  [FiringCause.REQUEST]: "by hand",
};

export function nameOfCause(cause: FiringCause): string {
  return causes[cause] ?? causes[FiringCause.UNSPECIFIED];
}

/** What happens to times that passed while no gateway ran, in words. */
export const missedChoices: readonly (readonly [OnMissed, string])[] = [
  [OnMissed.SKIP, "start nothing for them"],
  [OnMissed.ONCE, "start one run for the latest"],
  [OnMissed.ALL, "start one run for each of the latest"],
];

/** Returns what makes a trigger fire, in one line. */
export function sourceLine({ source }: Pick<TriggerSpec, "source">): string {
  if (source.case === "webhook") return "webhook";
  if (source.case !== "schedule") return "unknown";
  const { cron, timeZone } = source.value;
  return `${cron} (${timeZone === "" ? "UTC" : timeZone})`;
}

/** Returns the address to which webhooks of a trigger are sent. Empty if it has a schedule. */
export function hookAddress({ hookPath }: Pick<Trigger, "hookPath">, origin: string): string {
  return hookPath === "" ? "" : `${origin}${hookPath}`;
}
