import { fromBinary } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema } from "@reeve/contracts/approval";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import type { IndexedRows, Selection } from "@reeve/jetstream/local-index/indexed-rows";
import * as index from "@reeve/jetstream/local-index/search-rows";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
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

type Rows = Pick<IndexedRows<Approval, ApprovalField>, "select" | "direction">;

/** Returns one page of the approvals that match, oldest first. Searches a limited number of approvals. */
export function searchPage(rows: Rows, searched: Searched, request: PageRequest): Page<Approval> {
  return index.searchPage(rows, rowsOf(searched), request);
}

function rowsOf({ after: from, ...searched }: Searched) {
  return { ...searched, from, decode: decodeApproval };
}

/** Decodes an approval of the index. */
export function decodeApproval(bytes: Uint8Array): Approval {
  return fromBinary(ApprovalSchema, bytes, storedReadOptions);
}
