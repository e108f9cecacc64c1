import { RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { emptyTail } from "../../src/log/port.ts";
import type { RunKey, RunLog } from "../../src/log/run-log.ts";
import type { LogCatalog, LogEnd } from "../../src/projection/port.ts";
import { appendEvents, eventsAfter, freshRun, text } from "./facts.ts";

/** The contract of every adapter of a log catalog. `open` returns a new log and its catalog. */
export function catalogContract(
  where: string,
  open: () => Promise<{ readonly log: RunLog; readonly catalog: LogCatalog<RunKey> }>,
): void {
  describe(`a catalog ${where}`, () => {
    const signal = new AbortController().signal;

    async function ends(catalog: LogCatalog<RunKey>): Promise<readonly LogEnd<RunKey>[]> {
      const all: LogEnd<RunKey>[] = [];
      for await (const end of catalog.ends(signal)) all.push(end);
      return all;
    }

    test("of no logs is empty", async () => {
      const { catalog } = await open();
      expect(await ends(catalog)).toEqual([]);
    });

    test("has the end of every log, however many batches each has", async () => {
      const { log, catalog } = await open();
      const expected: LogEnd<RunKey>[] = [];
      for (let length = 1; length <= 30; length++) {
        const key = freshRun();
        const created = { case: "runCreated", value: { tenant: key.tenant } } as const;
        let tail = await appendEvents(log, key, emptyTail, eventsAfter(0, created), signal);
        for (let more = 0; more < length % 4; more++) {
          const events = eventsAfter(tail.sequence, text("a"), text("b"));
          tail = await appendEvents(log, key, tail, events, signal);
        }
        const status = { case: "status", value: { status: RunStatus.COMPLETED } } as const;
        tail = await appendEvents(log, key, tail, eventsAfter(tail.sequence, status), signal);
        expected.push({ key, sequence: tail.sequence, kinds: ["status"] });
      }
      expect((await ends(catalog)).toSorted(byRun)).toEqual(expected.toSorted(byRun));
    });

    test("ends although logs grow meanwhile", async () => {
      const { log, catalog } = await open();
      const key = freshRun();
      const created = { case: "runCreated", value: { tenant: key.tenant } } as const;
      let tail = await appendEvents(log, key, emptyTail, eventsAfter(0, created), signal);
      const found = new Set<string>();
      for await (const end of catalog.ends(signal)) {
        found.add(end.key.run);
        tail = await appendEvents(log, key, tail, eventsAfter(tail.sequence, text("a")), signal);
      }
      expect([...found]).toEqual([key.run]);
    });
  });
}

function byRun(a: LogEnd<RunKey>, b: LogEnd<RunKey>): number {
  return a.key.run < b.key.run ? -1 : 1;
}
