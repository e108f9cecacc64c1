import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AuditEvent, ListAuditEventsRequest } from "@reeve/contracts/audit";
import { AuditOutcome } from "@reeve/contracts/audit";
import type { AuditReader } from "@reeve/jetstream/audit/port";
import type { Page } from "@reeve/jetstream/table/page";
import { invalidPageToken, pageSizeOf } from "@reeve/jetstream/table/page";

/** How many events one request reads at most, in about. Those that do not match count too. */
const maxRead = 2_000;

/**
 * How much earlier or later than its time an event may be stored: it waits for the trail for up to two minutes, and the clocks of a
 * gateway and of the store may differ by three. An event of a clock that is farther off may be missing in a list of a time.
 */
const toleranceMs = 300_000;

/** Which events are listed. */
export interface ListedEvents {
  readonly request: ListAuditEventsRequest;
  /** Whether calls with an action only read. */
  readonly isRead: (action: string) => boolean;
}

/**
 * Returns the events of a tenant that match a request, newest first. Reads a limited part of the trail: a page may have fewer
 * events than requested, or none, although there are more.
 */
export async function listAuditEvents(
  trail: AuditReader,
  tenant: string,
  { request, isRead }: ListedEvents,
  signal: AbortSignal,
): Promise<Page<AuditEvent>> {
  const size = pageSizeOf(request);
  const isListed = matching(request, isRead);
  const sinceMs = request.startTime === undefined ? -Infinity : timestampMs(request.startTime);
  const items: AuditEvent[] = [];
  let before = positionOf(request.pageToken);
  // A page that continues another one starts where that one ended.
  let beforeMs = before === undefined && request.endTime ? endOf(request.endTime) : undefined;
  for (let read = 0; read < maxRead;) {
    const range = await trail.read(tenant, { before, beforeMs }, signal);
    for (const { position, event } of range.events) {
      read++;
      before = position;
      if (isListed(event)) items.push(event);
      if (items.length === size) return { items, nextPageToken: tokenOf(position) };
    }
    if (range.olderBefore === undefined) return { items, nextPageToken: "" };
    // Not the time of the events: after one of a clock that was slow, others would be missing. Servers differ too, a little.
    const isTooOld = range.events.every(({ storedMs }) => storedMs < sinceMs - toleranceMs);
    if (range.events.length > 0 && isTooOld) return { items, nextPageToken: "" };
    before = range.olderBefore;
    beforeMs = undefined;
    // A part without events took as many reads as one with many.
    read += range.events.length === 0 ? maxRead / 4 : 0;
  }
  return { items, nextPageToken: before === undefined ? "" : tokenOf(before) };
}

/** The time from which on no event that was stored later is listed. */
function endOf(time: NonNullable<ListAuditEventsRequest["endTime"]>): number {
  return timestampMs(time) + toleranceMs;
}

function matching(
  request: ListAuditEventsRequest,
  isRead: ListedEvents["isRead"],
): (event: AuditEvent) => boolean {
  const { startTime, endTime, subject, action, resourceId, outcome, withoutReads } = request;
  const sinceMs = startTime === undefined ? -Infinity : timestampMs(startTime);
  const untilMs = endTime === undefined ? Infinity : timestampMs(endTime);
  return (event) => {
    const timeMs = timeOf(event);
    return (
      timeMs >= sinceMs &&
      timeMs < untilMs &&
      (subject === "" || event.subject === subject) &&
      (action === "" || event.action === action || event.action.startsWith(`${action}.`)) &&
      !(withoutReads && isRead(event.action) && !isRefused(event)) &&
      (resourceId === "" || event.resources.some(({ id }) => id === resourceId)) &&
      (outcome === AuditOutcome.UNSPECIFIED ||
        (event.code === "OK") === (outcome === AuditOutcome.OK))
    );
  };
}

/** Whether a call failed. A client that leaves a stream has read what it wanted. */
function isRefused({ code }: AuditEvent): boolean {
  return code !== "OK" && code !== "CANCELLED";
}

function timeOf({ time }: AuditEvent): number {
  return time === undefined ? 0 : timestampMs(time);
}

function tokenOf(position: number): string {
  return Buffer.from(`p:${position}`).toString("base64url");
}

function positionOf(token: string): number | undefined {
  if (token === "") return undefined;
  const [, digits] = /^p:(\d{1,15})$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (digits === undefined) throw invalidPageToken();
  return Number(digits);
}
