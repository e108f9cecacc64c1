import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Firing, Trigger } from "@reeve/client";
import {
  FiringCauseSchema,
  FiringOutcomeSchema,
  TriggerStateSchema,
} from "@reeve/contracts/trigger";
import { oneLine } from "../../render/plain-text.ts";

export const triggerHeader = ["TRIGGER", "STATE", "AGENT", "SOURCE", "NEXT", "LAST"];
export const firingHeader = ["TIME", "CAUSE", "OUTCOME", "RUN", "PROBLEM"];

/** Returns the row of a trigger in a list. */
export function triggerRow(trigger: Trigger): readonly string[] {
  const { spec, state, nextFiringAt, lastFiring } = trigger;
  return [
    spec?.triggerId ?? "",
    nameOf(TriggerStateSchema, state),
    spec?.agentId ?? "",
    sourceOf(trigger),
    timeOf(nextFiringAt),
    lastFiring === undefined ? "" : nameOf(FiringOutcomeSchema, lastFiring.outcome),
  ];
}

/** Returns the row of a firing in a list. */
export function firingRow(firing: Firing): readonly string[] {
  const { scheduledAt, cause, outcome, runId, problem } = firing;
  return [
    timeOf(scheduledAt),
    nameOf(FiringCauseSchema, cause),
    nameOf(FiringOutcomeSchema, outcome),
    runId,
    oneLine(problem, 80),
  ];
}

/** Returns the lines that describe a trigger. */
export function describeTrigger(trigger: Trigger): string {
  const { spec, state, owner, revision, stopReason, nextFiringAt, hookPath, lastFiring } = trigger;
  const lines: (readonly [string, string])[] = [
    ["trigger", spec?.triggerId ?? ""],
    ["state", nameOf(TriggerStateSchema, state)],
    ["stopped", oneLine(stopReason, 500)],
    ["agent", spec?.agentId ?? ""],
    ["source", sourceOf(trigger)],
    ["address", hookPath],
    ["next", timeOf(nextFiringAt)],
    ["owner", oneLine(owner?.subject ?? "", 128)],
    ["revision", String(revision)],
    ["last", lastFiring === undefined ? "" : firingRow(lastFiring).join("  ").trimEnd()],
  ];
  return lines
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name.padEnd(9)} ${value}\n`)
    .join("");
}

function sourceOf({ spec }: Trigger): string {
  if (spec?.source.case === "webhook") return "webhook";
  if (spec?.source.case !== "schedule") return "";
  const { cron, timeZone } = spec.source.value;
  return oneLine(`${cron} ${timeZone === "" ? "UTC" : timeZone}`, 100);
}

function nameOf(
  schema: { readonly value: Readonly<Record<number, { readonly localName: string } | undefined>> },
  value: number,
): string {
  return schema.value[value]?.localName.toLowerCase() ?? "";
}

function timeOf(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}
