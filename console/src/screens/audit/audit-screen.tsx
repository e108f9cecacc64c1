import { useInfiniteQuery } from "@connectrpc/connect-query";
import type { AuditEvent } from "@reeve/contracts/audit";
import { AuditOutcome, AuditService } from "@reeve/contracts/audit";
import { useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { msOf } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";

/** Who did what, or tried to. Operators only. */
export function AuditScreen() {
  const [action, setAction] = useState("");
  const [subject, setSubject] = useState("");
  const [failedOnly, setFailedOnly] = useState(false);
  const outcome = failedOnly ? AuditOutcome.FAILED : AuditOutcome.UNSPECIFIED;
  const query = useInfiniteQuery(
    AuditService.method.listAuditEvents,
    { pageSize: 100, pageToken: "", action, subject, outcome },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    },
  );
  const events = query.data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <>
      <PageHead title="Audit" />
      <div className="filters" role="group" aria-label="Filters">
        <input
          className="input"
          aria-label="Action"
          placeholder="Action, such as run.start"
          value={action}
          onChange={(event) => setAction(event.target.value)}
        />
        <input
          className="input"
          aria-label="Subject"
          placeholder="Subject"
          value={subject}
          onChange={(event) => setSubject(event.target.value)}
        />
        <button
          type="button"
          className="chip tone-bad"
          aria-pressed={failedOnly}
          onClick={() => setFailedOnly(!failedOnly)}
        >
          <span className="mark" aria-hidden="true" />
          refused only
        </button>
      </div>
      {query.error !== null && <ProblemView problem={problemOf(query.error)} />}
      {query.isPending && (
        <p className="loading" role="status">
          Loading events …
        </p>
      )}
      {query.isSuccess && events.length === 0 && (
        <Empty title="No event matches">Remove a filter, or look at older events.</Empty>
      )}
      {events.length > 0 && <Events events={events} />}
      {query.hasNextPage && (
        <button
          type="button"
          className="button wide"
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Show older events
        </button>
      )}
    </>
  );
}

function Events({ events }: { readonly events: readonly AuditEvent[] }) {
  return (
    <div className="table-box">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">Action</th>
            <th scope="col">Outcome</th>
            <th scope="col">Resources</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.eventId}>
              <td>
                <Ago ms={msOf(event.time)} />
              </td>
              <td>{event.subject || "not known"}</td>
              <td className="mono">{event.action}</td>
              <td>
                <Badge
                  name={event.code === "OK" ? "ok" : event.reason || event.code}
                  tone={event.code === "OK" ? "ok" : "bad"}
                />
                {event.count > 1 && <span className="muted"> × {event.count}</span>}
              </td>
              <td className="wrap mono">
                {event.resources.map(({ kind, id }) => `${kind} ${id}`).join(", ")}
              </td>
              <td className="mono">{event.clientAddress}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
