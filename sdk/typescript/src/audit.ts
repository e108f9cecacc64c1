import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AuditEvent } from "#contracts/audit";
import type { ListAuditEventsOptions } from "./call-options.ts";
import type { Requests } from "./requests.ts";

/** The audit trail of the tenant: who did what, or tried to. Reading it needs the role `operator`. */
export class AuditTrail {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Lists events, newest first. */
  list(options: ListAuditEventsOptions = {}): AsyncGenerator<AuditEvent, void, undefined> {
    const { since, until, subject = "", action = "", resourceId = "" } = options;
    const { outcome = 0, withoutTenant = false, withoutReads = false } = options;
    const filter = { subject, action, resourceId, outcome, withoutTenant, withoutReads };
    const times = {
      ...(since && { startTime: timestampFromDate(since) }),
      ...(until && { endTime: timestampFromDate(until) }),
    };
    return this.#requests.list(async ({ audit }, page, call) => {
      const request = { ...filter, ...times, ...page };
      const { events: items, nextPageToken } = await audit.listAuditEvents(request, call);
      return { items, nextPageToken };
    }, options);
  }
}
