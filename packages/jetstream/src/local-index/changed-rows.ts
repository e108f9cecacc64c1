import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { TablePosition } from "../table/port.ts";
import type { ChangedRow } from "./change-order.ts";
import type { OpenIndex } from "./open-index.ts";

/** How long after a failed read a reader begins again. */
const retryAfterMs = 1_000;

/** Records that changed. */
export interface ChangedRows {
  readonly rows: readonly ChangedRow[];
  /** The place that a reader of these records has reached. */
  readonly position: TablePosition;
}

/**
 * Returns the first records of a tenant that changed after a position, or undefined if the index has no change after it. Throws a
 * Failure of kind `unavailable` when the table was replaced.
 */
export function changedRows(
  { database, order }: Pick<OpenIndex<unknown, string>, "database" | "order">,
  tenant: string,
  after: TablePosition,
): ChangedRows | undefined {
  const reached = database.position;
  if (reached === undefined || order === undefined) return undefined;
  if (reached.instance !== after.instance) throw replaced();
  const { rows, isCut } = order.after(tenant, after.revision);
  const last = rows.at(-1)?.revision ?? 0;
  const revision = isCut ? last : Math.max(last, reached.revision);
  if (revision <= after.revision) return undefined;
  return { rows, position: { instance: after.instance, revision } };
}

function replaced(): Failure {
  const message = "the table of this stream was replaced; begin the stream again";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { retryAfterMs });
}
