import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import type { KeyedChange } from "../table/port.ts";
import type { AgendaDefinition } from "./agenda.ts";
import { Agenda } from "./agenda.ts";
import { ChangeOrder } from "./change-order.ts";
import { IndexDatabase } from "./index-database.ts";
import type { IndexDefinition } from "./indexed-rows.ts";
import { IndexedRows } from "./indexed-rows.ts";
import type { Tally } from "./tallies.ts";
import { Tallies } from "./tallies.ts";

/** What an index keeps of the records of a table. */
export interface IndexContent<Schema extends DescMessage, Field extends string> {
  readonly schema: Schema;
  readonly definition: IndexDefinition<MessageShape<Schema>, Field>;
  /** Keeps an agenda of the records. Default: none. */
  readonly agenda?: AgendaDefinition;
  /** Returns what a record counts for. Default: the index keeps no numbers. */
  readonly talliesOf?: (record: MessageShape<Schema>) => readonly Tally[];
  /** Whether readers follow the changes of the records. Default: they do not. */
  readonly isFollowed?: boolean;
}

/** What an index is made of while it is open. */
export interface OpenIndex<Item, Field extends string> {
  readonly database: IndexDatabase;
  readonly rows: IndexedRows<Item, Field>;
  readonly agenda: Agenda | undefined;
  readonly tallies: Tallies | undefined;
  readonly order: ChangeOrder | undefined;
}

/** Opens the file of an index in a folder. */
export async function openIndex<Schema extends DescMessage, Field extends string>(
  { definition, agenda, talliesOf, isFollowed = false }: IndexContent<Schema, Field>,
  folder: string | undefined,
): Promise<OpenIndex<MessageShape<Schema>, Field>> {
  const layout = [
    IndexedRows.layout(definition),
    agenda ? Agenda.layout(agenda) : "",
    talliesOf ? Tallies.layout() : "",
    isFollowed ? ChangeOrder.layout() : "",
  ].join("");
  const database = await IndexDatabase.open({ folder, name: definition.name }, layout);
  return {
    database,
    rows: new IndexedRows(definition, database),
    agenda: agenda && new Agenda(agenda, database),
    tallies: talliesOf && new Tallies(database),
    order: isFollowed ? new ChangeOrder(database) : undefined,
  };
}

/** Applies a change of a record that can be read. Call it in `write` of the database. */
export function applyChange<Schema extends DescMessage, Field extends string>(
  { rows, agenda, tallies, order }: OpenIndex<MessageShape<Schema>, Field>,
  { schema, definition, talliesOf }: IndexContent<Schema, Field>,
  change: Exclude<KeyedChange<MessageShape<Schema>>, { readonly kind: "unreadable" }>,
): void {
  if (change.kind === "deleted" || definition.isListed?.(change.row.record) === false) {
    const key = change.kind === "deleted" ? change.key : change.row.key;
    for (const part of [agenda, tallies, order]) part?.remove(key);
    rows.delete(key);
    return;
  }
  const { key, record, revision } = change.row;
  rows.put(key, record, toBinary(schema, record));
  agenda?.note(key, definition.kindOf(record), revision);
  if (talliesOf !== undefined) tallies?.note(key, talliesOf(record));
  order?.note(key, revision);
}
