import { once } from "node:events";
import { expect, test } from "vitest";
import { openLiveView } from "./live-view.ts";
import { MemoryTable } from "../memory.ts";
import type { Table } from "../port.ts";

const log = { warn: () => undefined };

test("a watch that yields nothing is opened again", async () => {
  await using view = new SignalScope();
  const table = new MemoryTable<{ readonly name: string }>();
  await table.put("one", { name: "first" }, view.signal);
  const records = await openLiveView(silentAtFirst(table), log, view.signal, { idleTimeoutMs: 20 });
  expect(records()).toEqual([{ name: "first" }]);
  expect([records.get("one"), records.get("two")]).toEqual([{ name: "first" }, undefined]);
});

test("a view that nobody reads drops what is over with the next change", async () => {
  await using view = new SignalScope();
  const table = new MemoryTable<{ readonly name: string }>();
  await table.put("one", { name: "first" }, view.signal);
  const { promise: isCurrent, resolve: seen } = Promise.withResolvers<void>();
  const asked: string[] = [];
  let isOver = false;
  const keep = ({ name }: { readonly name: string }) => {
    asked.push(name);
    if (name === "third") seen();
    return name !== "first" || !isOver;
  };
  await openLiveView(table, log, view.signal, { keep });
  isOver = true;
  await table.put("two", { name: "second" }, view.signal);
  await table.put("three", { name: "third" }, view.signal);
  await table.put("two", { name: "third" }, view.signal);
  await isCurrent;
  expect(asked.filter((name) => name === "first")).toHaveLength(2);
});

/** Returns a table whose first watch yields nothing until it is aborted. */
function silentAtFirst<Record>(table: Table<Record>): Pick<Table<Record>, "watch"> {
  let watches = 0;
  return {
    async *watch(prefix, signal) {
      watches += 1;
      if (watches === 1) await once(signal, "abort");
      signal.throwIfAborted();
      yield* table.watch(prefix, signal);
    },
  };
}

class SignalScope implements AsyncDisposable {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort();
  }
}
