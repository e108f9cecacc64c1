import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { createLogger } from "@reeve/platform/logger";
import type { Nats } from "@reeve/platform/nats";
import { connectNats } from "@reeve/platform/nats";
import type { NatsServer } from "@reeve/platform/nats-server";
import { startNatsServer } from "@reeve/platform/nats-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commitForeign } from "../src/commit-foreign.ts";
import type { Tail } from "../src/log.ts";
import { emptyTail } from "../src/log.ts";
import { memoryRunLog } from "../src/memory-log.ts";
import { openRunLog } from "../src/nats-run-log.ts";
import type { RunKey, RunLog } from "../src/run-log.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
let runs = 0;

const freshKey = (): RunKey => ({ tenant: "acme", run: `run_${++runs}` });
const text = ({ run }: RunKey, sequence: number, said = `t${sequence}`): RunEvent =>
  create(RunEventSchema, { runId: run, sequence, event: { case: "text", value: { text: said } } });
const range = (key: RunKey, from: number, to: number): RunEvent[] =>
  Array.from({ length: to - from + 1 }, (_, index) => text(key, from + index));
const sequences = (events: readonly RunEvent[]): number[] => events.map(({ sequence }) => sequence);

async function appended(runLog: RunLog, key: RunKey, tail: Tail, count = 1): Promise<Tail> {
  const outcome = await runLog.append(
    key,
    tail,
    range(key, tail.sequence + 1, tail.sequence + count),
    never,
  );
  if (outcome.kind === "conflict") throw new Error("lost");
  return outcome.tail;
}

/** The first `count` events of a followed log. */
async function firstOf(
  runLog: RunLog,
  key: RunKey,
  after: number,
  count: number,
): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const stretch of runLog.follow(key, after, never)) {
    events.push(...stretch.events);
    if (events.length >= count) break;
  }
  return events;
}

function contract(name: string, open: () => RunLog): void {
  describe(`${name}: a log`, () => {
    test("that nobody wrote is empty", async () => {
      expect(await open().read(freshKey(), emptyTail, never)).toEqual({
        events: [],
        tail: emptyTail,
      });
    });

    test("gives back what was appended, from any tail", async () => {
      const [runLog, key] = [open(), freshKey()];
      const first = await appended(runLog, key, emptyTail, 3);
      const second = await appended(runLog, key, first, 2);
      const all = await runLog.read(key, emptyTail, never);
      expect(sequences(all.events)).toEqual([1, 2, 3, 4, 5]);
      expect(all.tail).toEqual(second);
      expect(sequences((await runLog.read(key, first, never)).events)).toEqual([4, 5]);
      expect((await runLog.read(key, second, never)).events).toEqual([]);
    });

    test("lets exactly one of racing writers win, and stays dense", async () => {
      const [runLog, key] = [open(), freshKey()];
      let tail = emptyTail;
      for (let round = 0; round < 10; round++) {
        const from = tail;
        const outcomes = await Promise.all(
          ["a", "b", "c", "d"].map((writer) =>
            runLog.append(key, from, [text(key, from.sequence + 1, writer)], never),
          ),
        );
        const won = outcomes.flatMap((outcome) =>
          outcome.kind === "appended" ? [outcome.tail] : [],
        );
        expect(won).toHaveLength(1);
        tail = won[0] ?? emptyTail;
      }
      const { events } = await runLog.read(key, emptyTail, never);
      expect(sequences(events)).toEqual(Array.from({ length: 10 }, (_, index) => index + 1));
    });

    test("refuses a batch after a tail that is not the last", async () => {
      const [runLog, key] = [open(), freshKey()];
      const first = await appended(runLog, key, emptyTail);
      await appended(runLog, key, first);
      expect(await runLog.append(key, first, [text(key, 2)], never)).toEqual({ kind: "conflict" });
      expect(await runLog.append(key, emptyTail, [text(key, 1)], never)).toEqual({
        kind: "conflict",
      });
    });

    test("is followed from any sequence: what stands, then what comes, each once", async () => {
      const [runLog, key] = [open(), freshKey()];
      let tail = await appended(runLog, key, emptyTail, 3);
      const following = Promise.all(
        [0, 2, 3, 5].map((after) => firstOf(runLog, key, after, 103 - after)),
      );
      for (let batch = 0; batch < 50; batch++) tail = await appended(runLog, key, tail, 2);
      const seen = await following;
      for (const [index, after] of [0, 2, 3, 5].entries()) {
        const expected = Array.from({ length: 103 - after }, (_, offset) => after + offset + 1);
        expect(sequences(seen[index] ?? [])).toEqual(expected);
      }
    });

    test("ends its followers when they are told to", async () => {
      const [runLog, key] = [open(), freshKey()];
      await appended(runLog, key, emptyTail);
      const stop = new AbortController();
      const seen: number[] = [];
      const following = (async () => {
        for await (const { events } of runLog.follow(key, 0, stop.signal)) {
          seen.push(...sequences(events));
          stop.abort(new Error("enough"));
        }
      })();
      await expect(following).rejects.toThrow("enough");
      expect(seen).toEqual([1]);
    });

    test("of many batches is read whole", async () => {
      const [runLog, key] = [open(), freshKey()];
      let tail = emptyTail;
      for (let batch = 0; batch < 40; batch++) tail = await appended(runLog, key, tail, 3);
      const { events } = await runLog.read(key, emptyTail, never);
      expect(sequences(events)).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
    });

    test("lets a foreign writer in while its owner writes at full speed", async () => {
      const [log, key] = [open(), freshKey()];
      const stop = new AbortController();
      const start = await appended(log, key, emptyTail);
      const owner = (async () => {
        let tail = start;
        while (!stop.signal.aborted) {
          // A log in memory must not keep the process from everything else.
          await new Promise(setImmediate);
          const outcome = await log.append(key, tail, [text(key, tail.sequence + 1)], never);
          ({ tail } = outcome.kind === "appended" ? outcome : await log.read(key, tail, never));
        }
      })();
      const dispatch = { publish: async () => undefined };
      for (let said = 0; said < 20; said++) {
        const submitted = { case: "messageSubmitted", value: { messageId: `m${said}` } } as const;
        await commitForeign({ log, dispatch }, key, () => [submitted], never);
      }
      stop.abort();
      await owner;
      const { events } = await log.read(key, emptyTail, never);
      expect(events.filter(({ event }) => event.case === "messageSubmitted")).toHaveLength(20);
      expect(sequences(events)).toEqual(events.map((_, index) => index + 1));
    });
  });
}

contract("memory", () => shared.memory);
contract("JetStream", () => shared.nats);

const shared: { memory: RunLog; nats: RunLog } = { memory: memoryRunLog(), nats: memoryRunLog() };
const folder = mkdtempSync(join(tmpdir(), "reeve-log-"));
let server: NatsServer;
let nats: Nats;

beforeAll(async () => {
  server = await startNatsServer({ storeDir: folder, log }, never);
  nats = await connectNats(server.url, { name: "test", log }, never);
  shared.nats = await openRunLog(nats);
});

afterAll(async () => {
  await nats[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe("a log in JetStream", () => {
  test("outlives its server, and its followers go on", async () => {
    const key = freshKey();
    const first = await appended(shared.nats, key, emptyTail, 2);
    const following = firstOf(shared.nats, key, 0, 3);
    await server[Symbol.asyncDispose]();
    server = await startNatsServer({ storeDir: folder, port: server.port, log }, never);
    await appended(shared.nats, key, first);
    expect(sequences(await following)).toEqual([1, 2, 3]);
  });

  test("is one of 10,000 and still finds its own events", async () => {
    const keys = Array.from({ length: 10_000 }, freshKey);
    for (let from = 0; from < keys.length; from += 500) {
      await Promise.all(
        keys.slice(from, from + 500).map((key) => appended(shared.nats, key, emptyTail)),
      );
    }
    const key = keys[5_000] ?? freshKey();
    const tail = await appended(
      shared.nats,
      key,
      (await shared.nats.read(key, emptyTail, never)).tail,
      2,
    );
    expect(tail.sequence).toBe(3);
    expect(sequences((await shared.nats.read(key, emptyTail, never)).events)).toEqual([1, 2, 3]);
  });

  test("refuses a batch that is larger than its store takes", async () => {
    const key = freshKey();
    const large = text(key, 1, "x".repeat(2_000_000));
    await expect(shared.nats.append(key, emptyTail, [large], never)).rejects.toMatchObject({
      kind: "exhausted",
    });
    expect((await shared.nats.read(key, emptyTail, never)).events).toEqual([]);
  });

  test("that is full refuses, and keeps what it has", async () => {
    const key = freshKey();
    const { tail } = await shared.nats.read(key, emptyTail, never);
    const { jetstreamManager } = await import("@nats-io/jetstream");
    const manager = await jetstreamManager(nats.connection);
    const { state } = await manager.streams.info("RUNS");
    await manager.streams.update("RUNS", { max_bytes: state.bytes + 100 });
    try {
      await expect(
        shared.nats.append(key, tail, [text(key, 1, "y".repeat(1_000))], never),
      ).rejects.toMatchObject({ kind: "exhausted" });
    } finally {
      await manager.streams.update("RUNS", { max_bytes: -1 });
    }
    expect((await appended(shared.nats, key, tail)).sequence).toBe(1);
  });
});
