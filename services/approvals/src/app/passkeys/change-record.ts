import { ErrorReason } from "@reeve/contracts/error";
import type { Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";

/** How often a change is tried while other processes change the same record. */
const maxAttempts = 10;

/** A record of a person, as people read of it in errors. */
interface OfPerson {
  readonly key: string;
  /** Such as `the passkeys of ann`. */
  readonly name: string;
}

/**
 * Replaces a record by what `change` returns, or leaves it if that is undefined. It is called again when another process has changed
 * the record meanwhile.
 */
export async function changeRecord<Record>(
  table: Pick<Table<Record>, "get" | "create" | "update">,
  { key, name }: OfPerson,
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
