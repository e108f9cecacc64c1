import { create, toBinary } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus, WatchRunRequestSchema } from "@reeve/contracts/run";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { emptyTail, maxFollowedBytes } from "@reeve/jetstream/log/port";
import type { Tail } from "@reeve/jetstream/log/port";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { WatchPorts, WatchUpdate } from "../watch-run.ts";
import { watchRun } from "../watch-run.ts";
import { limitWalks } from "./start-watch.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_abcdefgh" };
const batchLength = 5;
const length = 2_000;

const bytesOf = (events: readonly RunEvent[]) =>
  events.reduce((bytes, event) => bytes + toBinary(RunEventSchema, event).length, 0);

/** A log of 2 MB, which counts what is read of it. */
async function longLog() {
  const log = memoryRunLog();
  let tail: Tail = emptyTail;
  for (let sequence = 1; sequence <= length; sequence += batchLength) {
    const events = Array.from({ length: batchLength }, (_, index) =>
      create(RunEventSchema, {
        runId: key.run,
        sequence: sequence + index,
        event:
          sequence + index === length
            ? { case: "status", value: { status: RunStatus.COMPLETED } }
            : { case: "text", value: { text: `${"word ".repeat(200)}${sequence}` } },
      }),
    );
    const outcome = await log.append(key, tail, events, never);
    if (outcome.kind === "appended") ({ tail } = outcome);
  }
  const counts = { followed: 0, largestPart: 0, reading: 0, maxReading: 0 };
  const ports: WatchPorts = {
    log: {
      append: (...given) => log.append(...given),
      read: () => Promise.reject(new Error("a watch reads no whole log")),
      async *follow(...given) {
        for await (const range of log.follow(...given)) {
          counts.followed += bytesOf(range.events);
          yield range;
        }
      },
    },
    logEnds: log,
    logParts: {
      async readPart(...given) {
        counts.maxReading = Math.max(counts.maxReading, ++counts.reading);
        await setImmediate();
        const part = await log.readPart(...given);
        counts.largestPart = Math.max(counts.largestPart, bytesOf(part.events));
        counts.reading--;
        return part;
      },
    },
    walks: limitWalks(),
    sleep: () => new Promise(() => undefined),
  };
  return { ports, counts };
}

function watched(ports: WatchPorts, request: { afterSequence?: number; resumeToken?: string }) {
  const wanted = create(WatchRunRequestSchema, { runId: key.run, ...request });
  return watchRun(ports, key.tenant, wanted, never);
}

const sequencesOf = (updates: readonly WatchUpdate[]) =>
  updates.flatMap(({ events }) => events.map(({ sequence }) => sequence));

test("a client that reads nothing makes the gateway hold a small part of a long history", async () => {
  const { ports, counts } = await longLog();
  for (const afterSequence of [0, 503]) {
    counts.followed = 0;
    const updates = watched(ports, { afterSequence })[Symbol.asyncIterator]();
    let received = 0;
    while (received === 0) received = bytesOf((await updates.next()).value?.events ?? []);
    // Whole batches, each of a few kilobytes.
    expect(received).toBeLessThan(1.1 * maxFollowedBytes);
    expect(counts.followed).toBeLessThan(1.1 * maxFollowedBytes);
    await updates.return?.();
  }
});

// Requirement: EVT-4
test("a client that resumes far from the end gets the rest, of which the log is read in parts", async () => {
  const { ports, counts } = await longLog();
  const updates = await Array.fromAsync(watched(ports, { afterSequence: 999 }));
  const { resumeToken = "" } = updates.find(({ throughSequence }) => throughSequence > 1_200) ?? {};
  expect(resumeToken).not.toBe("");
  for (const request of [
    { afterSequence: 0 },
    { afterSequence: 998 },
    { afterSequence: 1_000 },
    { afterSequence: 1_003, resumeToken },
    { afterSequence: 0, resumeToken },
    { afterSequence: length - 7 },
  ]) {
    const { afterSequence } = request;
    const rest = sequencesOf(await Array.fromAsync(watched(ports, request)));
    const expected = Array.from(
      { length: length - afterSequence },
      (_, index) => afterSequence + 1 + index,
    );
    expect(rest).toEqual(expected);
  }
  expect(counts.largestPart).toBeLessThan(600 * 1024);
});

test("a client that resumes in a run that is deleted meanwhile is told that there is none", async () => {
  const { ports } = await longLog();
  const { logParts, logEnds } = ports;
  let parts = 0;
  const deleted: WatchPorts = {
    ...ports,
    logEnds: {
      last: async (...given) =>
        parts < 2 ? await logEnds.last(...given) : { events: [], tail: emptyTail, batchTails: [] },
    },
    logParts: {
      async readPart(of, tail, ...given) {
        if (++parts === 1) return await logParts.readPart(of, tail, ...given);
        return { events: [], tail, batchTails: [], isComplete: true, isGone: true };
      },
    },
  };
  const refused = Array.fromAsync(watched(deleted, { afterSequence: 1_500 }));
  await expect(refused).rejects.toMatchObject({ kind: "not_found" });
});

test("of the clients of a tenant that resume at once, two read the log at the same time", async () => {
  const { ports, counts } = await longLog();
  const first = async () => {
    for await (const update of watched(ports, { afterSequence: 1_500 })) return update;
    return undefined;
  };
  const answers = await Promise.all(Array.from({ length: 10 }, first));
  expect(answers.map((update) => update?.throughSequence)).not.toContain(undefined);
  expect(counts.maxReading).toBe(2);
});

test.each(["waits for its turn", "reads the log"])(
  "a client that resumes gets heartbeats while it %s, with what it sent",
  async (stage) => {
    const { ports } = await longLog();
    const updates = await Array.fromAsync(watched(ports, { afterSequence: 999 }));
    const { resumeToken = "" } =
      updates.find(({ throughSequence }) => throughSequence > 1_200) ?? {};
    const request = { afterSequence: 1_003, resumeToken };
    const walks = new KeyedSemaphore({ permits: 1, permitsPerKey: 1, maxWaitingPerKey: 1 });
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    if (stage === "waits for its turn") {
      const held = await walks.acquire(key.tenant, never);
      void opened.then(() => held?.[Symbol.dispose]());
    }
    const slow: WatchPorts = {
      ...ports,
      walks,
      logParts: {
        async readPart(...given) {
          if (stage === "reads the log") await opened;
          return await ports.logParts.readPart(...given);
        },
      },
      sleep: async () => {
        await setImmediate();
      },
    };
    const answer: WatchUpdate[] = [];
    for await (const update of watched(slow, request)) {
      answer.push(update);
      if (answer.length === 3) open();
    }
    const heartbeat = { events: [], throughSequence: 1_003, resumeToken };
    expect(answer.slice(0, 3)).toEqual([heartbeat, heartbeat, heartbeat]);
    const rest = Array.from({ length: length - 1_003 }, (_, index) => 1_004 + index);
    expect(sequencesOf(answer)).toEqual(rest);
    expect(sequencesOf(await Array.fromAsync(watched(ports, request)))).toEqual(rest);
  },
);

test("a client that leaves while it waits for its turn gives up its place", async () => {
  const { ports } = await longLog();
  const walks = new KeyedSemaphore({ permits: 1, permitsPerKey: 1, maxWaitingPerKey: 1 });
  const held = await walks.acquire(key.tenant, never);
  const waiting = { ...ports, walks, sleep: () => Promise.resolve() };
  for await (const { events } of watched(waiting, { afterSequence: 1_500 })) {
    expect(events).toEqual([]);
    break;
  }
  held?.[Symbol.dispose]();
  expect(walks.size).toBe(0);
});
