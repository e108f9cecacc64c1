import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Table } from "./port.ts";

/** How often a change is tried while other processes change the same row. */
const maxAttempts = 10;

/** A row, as people read of it in errors. */
interface NamedRow {
  readonly key: string;
  /** Such as `the passkeys of ann`. */
  readonly name: string;
}

/**
 * Replaces the record of a row by what `change` returns, or leaves it if that is undefined. It is called again when another process has
 * changed the row meanwhile. Throws a Failure of kind `unavailable` if others were first ten times.
 */
export async function changeRow<Record>(
  table: Pick<Table<Record>, "get" | "create" | "update">,
  { key, name }: NamedRow,
  change: (now: Record | undefined) => Record | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const row = await table.get(key, signal);
    const next = change(row?.record);
    if (next === undefined) return;
    const written =
      row === undefined
        ? await table.create(key, next, signal)
        : await table.update(key, next, row.revision, signal);
    if (written !== undefined) return;
  }
  const message = `${name} changed ${maxAttempts} times meanwhile; try again`;
  throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
