import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TriggerSpec, TriggerSpecSchema } from "@reeve/contracts/trigger";
import { OnMissed, OnOverlap } from "@reeve/contracts/trigger";

/** A trigger as a person enters it. */
export interface TriggerDraft {
  readonly triggerId: string;
  readonly agentId: string;
  readonly input: string;
  /** As `name=value`, separated by commas. */
  readonly labels: string;
  readonly onOverlap: OnOverlap;
  readonly kind: "schedule" | "webhook";
  readonly cron: string;
  readonly timeZone: string;
  readonly onMissed: OnMissed;
  readonly maxMissed: string;
  readonly jitterSeconds: string;
}

/** What a new trigger begins with: every day at two, in the zone of the reader. */
export function newDraft(timeZone: string): TriggerDraft {
  return {
    triggerId: "",
    agentId: "",
    input: "",
    labels: "",
    onOverlap: OnOverlap.SKIP,
    kind: "schedule",
    cron: "0 2 * * *",
    timeZone,
    onMissed: OnMissed.SKIP,
    maxMissed: "",
    jitterSeconds: "",
  };
}

export function draftOf(spec: TriggerSpec): TriggerDraft {
  const { triggerId, agentId, input, labels, onOverlap, source } = spec;
  const schedule = source.case === "schedule" ? source.value : undefined;
  return {
    ...newDraft(""),
    triggerId,
    agentId,
    input,
    labels: Object.entries(labels)
      .map(([name, value]) => `${name}=${value}`)
      .join(", "),
    onOverlap: onOverlap || OnOverlap.SKIP,
    kind: source.case === "webhook" ? "webhook" : "schedule",
    ...(schedule !== undefined && {
      cron: schedule.cron,
      timeZone: schedule.timeZone,
      onMissed: schedule.onMissed || OnMissed.SKIP,
      maxMissed: schedule.maxMissed === 0 ? "" : String(schedule.maxMissed),
      jitterSeconds: schedule.jitter === undefined ? "" : String(schedule.jitter.seconds),
    }),
  };
}

/** Returns what a draft describes. The server refuses what is not valid, with all violations. */
export function specOf(draft: TriggerDraft): MessageInitShape<typeof TriggerSpecSchema> {
  const { triggerId, agentId, input, onOverlap, kind, cron, timeZone, onMissed } = draft;
  const base = { triggerId, agentId, input, labels: labelsOf(draft.labels), onOverlap };
  if (kind === "webhook") return { ...base, source: { case: "webhook", value: {} } };
  const isAll = onMissed === OnMissed.ALL && draft.maxMissed !== "";
  const schedule = {
    cron,
    timeZone,
    onMissed,
    ...(isAll && { maxMissed: wholeNumber(draft.maxMissed) }),
    ...(draft.jitterSeconds !== "" && {
      jitter: { seconds: BigInt(wholeNumber(draft.jitterSeconds)) },
    }),
  };
  return { ...base, source: { case: "schedule", value: schedule } };
}

function wholeNumber(text: string): number {
  const number = Math.round(Number(text));
  return Number.isSafeInteger(number) && number > 0 ? number : 0;
}

function labelsOf(text: string): Record<string, string> {
  const parts = text.split(",").flatMap((part) => {
    const [, name = "", value = ""] = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
    return name === "" ? [] : [[name, value] as const];
  });
  return Object.fromEntries(parts);
}
