import { setImmediate } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import type { Approval, WatchApprovalsRequest } from "@reeve/contracts/approval";
import {
  ApprovalFilterSchema,
  ApprovalState,
  ListApprovalsRequestSchema,
} from "@reeve/contracts/approval";
import type { Page } from "@reeve/jetstream/table/page";
import type { TablePosition } from "@reeve/jetstream/table/port";
import { withHeartbeats } from "@reeve/platform/async/with-heartbeats";
import type { Decider } from "@reeve/run/approvals/votes/may-decide";
import type { ReadPorts } from "../read-approvals.ts";
import { searchedOf, shownNow } from "../read-approvals.ts";
import { matching } from "./approval-filter.ts";
import { positionOfToken, resumeTokenOf } from "./resume-token.ts";
import { decodeApproval, searchPage } from "./search-approvals.ts";
import { ShownApprovals } from "./shown-approvals.ts";

/** The time without an approval after which a stream sends a heartbeat. */
const heartbeatMs = 5_000;

/** A message of a watch. */
export interface WatchedApprovals {
  /** Empty in a heartbeat. */
  readonly approvals: readonly Approval[];
  /** Empty until all approvals that were pending at the start were yielded; never in a watch that resumes. */
  readonly resumeToken: string;
}

type WatchPorts = Pick<ReadPorts, "lists" | "clock" | "times" | "groups">;
type Watched = Pick<WatchApprovalsRequest, "runId" | "filter" | "resumeToken">;

/**
 * Yields the pending approvals that are selected, then each selected approval when it is requested or changes, until `signal` aborts.
 * One that was yielded is yielded at each change until it is closed, also if it ceases to match. Yields a heartbeat when nothing
 * happens. An empty `runId` selects all runs of the tenant. Reads the index alone, with one request to the store at the start, and one more
 * to resume.
 */
export async function* watchApprovals(
  ports: WatchPorts,
  caller: Decider,
  watched: Watched,
  signal: AbortSignal,
): AsyncIterable<WatchedApprovals> {
  const { clock, groups } = ports;
  const { tenant } = caller;
  const interval = { everyMs: heartbeatMs, clock };
  let resumeToken = "";
  // Heartbeats depend on what the client receives, so approvals that it did not select must not delay them.
  const selected = (until: AbortSignal) => selectNews(ports, caller, watched, until);
  for await (const next of withHeartbeats(selected, interval, signal)) {
    if (next === "heartbeat") {
      groups.note({ tenant, groups: caller.groups ?? new Set() });
      yield { approvals: [], resumeToken };
    } else {
      if (next.position !== undefined) resumeToken = resumeTokenOf(next.position);
      yield { approvals: next.approvals.map(shownNow(ports, caller)), resumeToken };
    }
  }
}

/** Some approvals, and the position of the inbox that the reader has reached, if the pending ones are complete. */
interface News {
  readonly approvals: readonly Approval[];
  readonly position: TablePosition | undefined;
}

async function* selectNews(
  { lists }: WatchPorts,
  caller: Decider,
  { runId, filter = create(ApprovalFilterSchema), resumeToken }: Watched,
  signal: AbortSignal,
): AsyncIterable<News> {
  const known = resumeToken === "" ? undefined : positionOfToken(resumeToken);
  const start = await lists.position(signal);
  const mayResume = known?.instance === start.instance && known.revision <= start.revision;
  const ofRun = (each: Approval) => runId === "" || each.runId === runId;
  const isMatch = matching(filter, caller);
  const shown = new ShownApprovals();
  // A client has other than closed approvals only if it selects pending ones.
  const hasPending = filter.states.length === 0 || filter.states.includes(ApprovalState.PENDING);
  // What the client has of an earlier stream is not known: it gets the end of everything that it may have.
  const earlier = { ...filter, states: [], forMe: false, assignee: "" };
  const mayBeShown = matching(earlier, caller);
  /** Until where in the table a change may be one of an approval that the client has. */
  let earlierEnd = 0;
  if (mayResume && hasPending) {
    const pages = pendingPages(lists, caller, { runId, filter: earlier, start }, signal);
    for await (const { items } of pages) for (const each of items) shown.noteEarlier(each);
    // Some may have been closed before their page was read.
    earlierEnd = (await lists.position(signal)).revision;
  }
  // Without a token, the client knows that nothing continues what it has of an earlier stream.
  yield { approvals: [], position: mayResume ? known : undefined };
  if (!mayResume && !hasPending) yield { approvals: [], position: start };
  else if (!mayResume) {
    const pages = pendingPages(lists, caller, { runId, filter, start }, signal);
    // To a client that wants to resume, approvals with a token mean that its stream continues. It gets this token alone.
    const isAlone = resumeToken !== "";
    for await (const { items: approvals, nextPageToken } of pages) {
      for (const each of approvals) shown.isNews(each);
      const position = nextPageToken === "" && !isAlone ? start : undefined;
      if (approvals.length > 0 || position !== undefined) yield { approvals, position };
    }
    if (isAlone) yield { approvals: [], position: start };
  }
  const from = mayResume ? known : start;
  for await (const { rows, position } of lists.changesAfter(caller.tenant, from, signal)) {
    const approvals = rows.flatMap(({ bytes, revision }) => {
      const approval = decodeApproval(bytes);
      const isUnknown = shown.hasForgotten || revision <= earlierEnd;
      const wasShown = shown.has(approval) || (isUnknown && mayBeShown(approval));
      const isSelected = ofRun(approval) && (wasShown || isMatch(approval));
      return isSelected && shown.isNews(approval) ? approval : [];
    });
    if (approvals.length > 0) yield { approvals, position };
  }
}

/** Yields the pending approvals that match, page by page, as the inbox had them at a position, or later. */
async function* pendingPages(
  lists: WatchPorts["lists"],
  caller: Decider,
  {
    runId,
    filter,
    start,
  }: Pick<Required<Watched>, "runId"> & {
    readonly filter: NonNullable<Watched["filter"]>;
    readonly start: TablePosition;
  },
  signal: AbortSignal,
): AsyncIterable<Page<Approval>> {
  const request = create(ListApprovalsRequestSchema, { runId, filter });
  const searched = searchedOf(caller, request);
  const selection = { ...searched.selection, kinds: [ApprovalState.PENDING] };
  const pending = { ...searched, selection };
  const readPage = async (pageToken: string): Promise<Page<Approval>> =>
    await lists.readAt(
      caller.tenant,
      start,
      (rows) => searchPage(rows, pending, { pageSize: 0, pageToken }),
      signal,
    );
  for (let pageToken = "", isLast = false; !isLast;) {
    const page = await readPage(pageToken);
    yield page;
    // Other work of the process runs between two pages.
    await setImmediate(undefined, { signal });
    pageToken = page.nextPageToken;
    isLast = pageToken === "";
  }
}
