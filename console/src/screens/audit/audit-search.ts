import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AuditOutcome } from "@reeve/contracts/audit";

/** The filters of the audit trail, as the address has them. */
export interface AuditSearch {
  readonly action?: string;
  readonly subject?: string;
  readonly resource?: string;
  readonly outcome?: keyof typeof outcomes;
  /** How long ago the events were at most. */
  readonly since?: Since;
  /** Whether calls that only read are listed, too. */
  readonly reads?: true;
  /** Whether each event has a row of its own. */
  readonly single?: true;
}

const outcomes = { ok: AuditOutcome.OK, refused: AuditOutcome.FAILED } as const;

const sinceMs = {
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 604_800_000,
  "30d": 2_592_000_000,
} as const;

type Since = keyof typeof sinceMs;

/** The times to choose from, shortest first. */
export const sinces: readonly Since[] = ["1h", "24h", "7d", "30d"];

const texts = ["action", "subject", "resource"] as const;

/** Reads the filters of an address, which a person may have written. */
export function readAuditSearch(search: Record<string, unknown>): AuditSearch {
  const given = texts.flatMap((name) => {
    const value = search[name];
    // An address may have a number where a person wrote digits.
    const text = typeof value === "number" ? String(value) : value;
    return typeof text === "string" && text !== "" ? [[name, text] as const] : [];
  });
  const since = sinces.find((each) => each === search["since"]);
  const outcome = search["outcome"];
  return {
    ...Object.fromEntries(given),
    ...((outcome === "ok" || outcome === "refused") && { outcome }),
    ...(since && { since }),
    ...(search["reads"] === true && { reads: true }),
    ...(search["single"] === true && { single: true }),
  };
}

/** Returns the request for the events. Times are whole minutes, so that the request changes once a minute. */
export function requestOf(
  { action = "", subject = "", resource = "", outcome, since, reads }: AuditSearch,
  nowMs: number,
) {
  const minuteMs = 60_000;
  const fromMs = since && nowMs - sinceMs[since];
  return {
    pageSize: 200,
    pageToken: "",
    action,
    subject,
    resourceId: resource,
    outcome: outcome === undefined ? AuditOutcome.UNSPECIFIED : outcomes[outcome],
    withoutReads: reads !== true,
    ...(fromMs !== undefined && {
      startTime: timestampFromMs(Math.floor(fromMs / minuteMs) * minuteMs),
    }),
  };
}
