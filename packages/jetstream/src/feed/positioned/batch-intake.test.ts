import type { JsMsg } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import type { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { batchHeaders } from "../../log/stored-batch.ts";
import {
  dataKeyNotAuthentic,
  dataKeyReplaced,
  keysMissing,
  keysUnavailable,
  notAuthentic,
} from "../../sealing/key-failures.ts";
import { BatchIntake } from "./batch-intake.ts";
import { ReadProgress } from "./progress.ts";

const { signal } = new AbortController();
const subject = "run.acme.r.log";

function described() {
  const described = headers();
  described.set(batchHeaders.kinds, "runCreated");
  return described;
}

const storedAt = (sequence: number) => ({
  sequence,
  subject,
  storedAt: "",
  headers: described(),
  data: new Uint8Array(),
});

function received(seq: number): JsMsg {
  const message: Pick<JsMsg, "seq" | "subject" | "data" | "headers"> = {
    seq,
    subject,
    data: new Uint8Array(),
    headers: described(),
  };
  // oxlint-disable-next-line no-unsafe-type-assertion -- reads nothing else of a message
  return message as JsMsg;
}

const delays = { firstDelayMs: 1, maxDelayMs: 1 };

/** An intake of a tenant whose batches fail with `failure`, and its progress. */
function failingIntake(failure: Failure) {
  const progress = new ReadProgress({ sequence: 0, behind: new Map(), aside: [] }, delays);
  const intake = new BatchIntake<string, never>(
    {
      messages: {
        assigned: async (sequence) => storedAt(sequence),
        latest: async () => undefined,
        lastSequence: async () => 0,
      },
      opener: { tenantOf: () => "acme", open: () => Promise.reject(failure) },
      filterOf: () => "run.acme.*.log",
      kinds: new Set(["runCreated"]),
    },
    progress,
  );
  return { intake, progress };
}

test.each([
  ["that does not decrypt its data keys", dataKeyNotAuthentic("acme")],
  ["whose data key was replaced", dataKeyReplaced("acme", "p1")],
  ["in a process without keys", keysMissing("acme")],
])(
  "the batches of a tenant with a key %s do not count as single ones that wait",
  async (_, failure) => {
    const { intake, progress } = failingIntake(failure);
    for (const seq of [1, 2, 3]) await intake.take(received(seq), signal);
    expect(progress.waitingMessages).toBe(0);
    expect(progress.isBehind("acme")).toBe(true);
  },
);

test("an altered batch does not keep the others of its tenant", async () => {
  const { intake, progress } = failingIntake(notAuthentic("run.acme.r.log"));
  await intake.take(received(1), signal);
  expect([progress.waitingMessages, progress.isBehind("acme")]).toEqual([1, false]);
});

test("one retry of a tenant that was locked takes a few milliseconds, and the next one continues", async () => {
  const progress = new ReadProgress(
    { sequence: 9, behind: new Map([["acme", 0]]), aside: [] },
    delays,
  );
  const clock = { ms: 0, now: () => clock.ms };
  const asked: number[] = [];
  const intake = new BatchIntake<string, never>(
    {
      messages: {
        assigned: async (sequence) => storedAt(sequence),
        latest: async (query) => {
          clock.ms += 2;
          if (!("seq" in query)) return undefined;
          asked.push(query.seq);
          return storedAt(query.seq);
        },
        lastSequence: async () => 9,
      },
      opener: { tenantOf: () => "acme", open: async () => undefined },
      filterOf: () => "run.acme.*.log",
      kinds: new Set<string>(),
      clock,
    },
    progress,
  );
  const due = progress.due(Number.MAX_VALUE);
  if (due === undefined) throw new Error("nothing is due");
  await intake.retry(due, signal);
  expect(asked).toEqual([1, 2, 3]);
  expect(progress.due(Number.MAX_VALUE)).toMatchObject({ after: 3 });
});

test("a tenant stays behind while the leader of its stream is behind, too", async () => {
  const leader = { last: 2 };
  let isLocked = true;
  const progress = new ReadProgress({ sequence: 0, behind: new Map(), aside: [] }, delays);
  const intake = new BatchIntake<string, never>(
    {
      messages: {
        assigned: async (sequence) => storedAt(sequence),
        latest: async (query) =>
          "seq" in query && query.seq <= leader.last ? storedAt(query.seq) : undefined,
        lastSequence: async () => leader.last,
      },
      opener: {
        tenantOf: () => "acme",
        open: async () => {
          if (isLocked) throw keysUnavailable("acme");
          return { key: "r", events: [] };
        },
      },
      filterOf: () => "run.acme.*.log",
      kinds: new Set(["runCreated"]),
    },
    progress,
  );
  for (const seq of [1, 2]) {
    expect(await intake.take(received(seq), signal)).toBeUndefined();
  }
  isLocked = false;
  const retry = { kind: "tenant", tenant: "acme", after: 0, passed: 2 } as const;
  leader.last = 0;
  await expect(intake.retry(retry, signal)).rejects.toMatchObject({ kind: "unavailable" });
  expect(progress.isBehind("acme")).toBe(true);
  leader.last = 2;
  expect(await intake.retry(retry, signal)).toMatchObject({ key: "r" });
});
