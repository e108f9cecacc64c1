import { fromBinary } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema } from "@reeve/contracts/approval";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import type { IndexedRow, IndexedRows, Selection } from "@reeve/jetstream/local-index/indexed-rows";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import { keyOfToken, maxPageBytes, pageSizeOf, tokenOf } from "@reeve/jetstream/table/page";
import type { ApprovalField } from "../approval-lists.ts";
import type { Matches } from "./approval-filter.ts";

/** The approvals of the index that are searched. */
export interface Searched {
  readonly selection: Selection<ApprovalField>;
  /** Only those that follow this place. Default: all. */
  readonly after?: string | undefined;
  /** Only those that come before this place. Default: all. */
  readonly before?: string | undefined;
  readonly matches: Matches;
}

/** How much of the inbox one request searches: a large inbox must not keep the process from other work. */
const maxSearched = { rows: 1_000, bytes: 4 * 1024 * 1024 };

type Rows = Pick<IndexedRows<Approval, ApprovalField>, "select">;

/**
 * Returns one page of the approvals that match, oldest first. Searches a limited number of approvals: a page may have fewer than
 * requested, or none, although there are more. The next page continues where the search ended.
 */
export function searchPage(rows: Rows, searched: Searched, request: PageRequest): Page<Approval> {
  const size = pageSizeOf(request);
  const items: Approval[] = [];
  let room = maxPageBytes;
  let last: string | undefined;
  for (const { row, isBeyond } of searchedRows(rows, searched, request)) {
    if (last !== undefined && (isBeyond || items.length === size)) {
      return { items, nextPageToken: tokenOf(last) };
    }
    const approval = approvalOf(row);
    if (searched.matches(approval)) {
      room -= row.bytes.length;
      if (room < 0 && last !== undefined && items.length > 0) {
        return { items, nextPageToken: tokenOf(last) };
      }
      items.push(approval);
    }
    last = row.order;
  }
  return { items, nextPageToken: "" };
}

/** Counts the approvals that match, among a limited number. Returns whether there may be more. */
export function searchCount(
  rows: Rows,
  searched: Searched,
): { readonly count: number; readonly isPartial: boolean } {
  let count = 0;
  for (const { row, isBeyond } of searchedRows(rows, searched, { pageToken: "" })) {
    if (isBeyond) return { count, isPartial: true };
    if (searched.matches(approvalOf(row))) count++;
  }
  return { count, isPartial: false };
}

/** Yields the rows to search, and says of the first row that is beyond the limits that it is. */
function* searchedRows(
  rows: Rows,
  { selection, after, before }: Searched,
  { pageToken }: Pick<PageRequest, "pageToken">,
): Iterable<{ readonly row: IndexedRow; readonly isBeyond: boolean }> {
  let left = maxSearched.rows;
  let bytesLeft = maxSearched.bytes;
  for (const row of rows.select(selection, later(keyOfToken(pageToken), after))) {
    if (before !== undefined && row.order >= before) return;
    const isBeyond = left-- <= 0 || bytesLeft <= 0;
    bytesLeft -= row.bytes.length;
    yield { row, isBeyond };
    if (isBeyond) return;
  }
}

function later(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}

function approvalOf({ bytes }: IndexedRow): Approval {
  return fromBinary(ApprovalSchema, bytes, storedReadOptions);
}
