import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { jsonLine } from "../render/json-line.ts";
import { table } from "../render/table.ts";
import type { Terminal } from "../terminal.ts";

/** How a list is printed for people. */
export interface ListFormat<Item> {
  readonly header: readonly string[];
  row(item: Item): readonly string[];
  /** The message for an empty list. */
  readonly empty: string;
}

/** Prints a list: as a table, or with one item per line as JSON. */
export async function printList<Desc extends DescMessage>(
  terminal: Terminal,
  schema: Desc,
  items: AsyncIterable<MessageShape<Desc>> | Iterable<MessageShape<Desc>>,
  { header, row, empty }: ListFormat<MessageShape<Desc>>,
  json: boolean,
): Promise<void> {
  if (json) {
    for await (const item of items) terminal.out(jsonLine(schema, item));
    return;
  }
  const rows = await Array.fromAsync(items, row);
  if (rows.length === 0) terminal.note(`${empty}\n`);
  else terminal.out(table(header, rows));
}
