import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { Dispatch, RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import { externalAppendContract } from "@reeve/jetstream/test/support/external-append-contract";
import { appendEvents, eventsAfter, freshRun } from "@reeve/jetstream/test/support/facts";
import type { ExternalFact } from "./append-external.ts";
import { appendExternal } from "./append-external.ts";
import { emptyTail } from "@reeve/jetstream/log/port";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import type { RunHead } from "../head/run-head.ts";
import { messageOf } from "../head/run-head.ts";
import type { RunLog } from "@reeve/jetstream/log/run-log";

const { signal } = new AbortController();
const created: ExternalFact = { case: "runCreated", value: { tenant: "acme" } };
const claimed: ExternalFact = { case: "runClaimed", value: { worker: "w", epoch: 1 } };
const parked: ExternalFact = { case: "runParked", value: {} };
const cancelled: ExternalFact = { case: "status", value: { status: RunStatus.CANCELLED } };
const submitted = (messageId: string): ExternalFact => ({
  case: "messageSubmitted",
  value: { messageId },
});
const submitOnce = (messageId: string) => (head: RunHead) =>
  messageOf(head, messageId) === undefined ? [submitted(messageId)] : [];

/** An event of a kind that only a newer version knows. */
function unknownEvent(runId: string, sequence: number): RunEvent {
  return create(RunEventSchema, { runId, sequence });
}

async function runWith(...facts: readonly ExternalFact[]) {
  const log = memoryRunLog();
  const dispatch = new MemoryWorkQueue<Dispatch>();
  const key = freshRun();
  await appendEvents(log, key, emptyTail, eventsAfter(0, ...facts), signal);
  return { log, dispatch, key };
}

const shared = memoryRunLog();
externalAppendContract("in memory", () => [shared, shared]);

describe("an external fact", () => {
  test("gets its time and follows the log", async () => {
    const { log, dispatch, key } = await runWith(created, claimed);
    const head = await appendExternal({ log, dispatch }, key, submitOnce("m1"), signal);
    expect(head.lastSequence).toBe(3);
    const event = (await log.read(key, emptyTail, signal)).events.at(-1);
    expect(event).toMatchObject({
      runId: key.run,
      sequence: 3,
      event: { value: { messageId: "m1" } },
    });
    expect(event?.time).toBeDefined();
  });

  test("is one batch with the other facts of its decision", async () => {
    const { log, dispatch, key } = await runWith(created, claimed);
    const sizes: number[] = [];
    const counting: RunLog = {
      append: (of, tail, events, within) => {
        sizes.push(events.length);
        return log.append(of, tail, events, within);
      },
      read: (...args) => log.read(...args),
      follow: (...args) => log.follow(...args),
    };
    const facts = [submitted("m1"), submitted("m2")];
    const head = await appendExternal({ log: counting, dispatch }, key, () => facts, signal);
    expect(sizes).toEqual([2]);
    expect(head.lastSequence).toBe(4);
  });

  test.each<[string, readonly ExternalFact[], readonly ExternalFact[], readonly string[]]>([
    ["wakes a parked run", [claimed, parked], [submitted("m")], ["prepare", "append", "publish"]],
    ["has an owner", [claimed], [submitted("m")], ["append"]],
    ["leaves the run parked", [claimed, parked], [submitted("m"), parked], ["append"]],
  ])(
    "that %s asks about the queue while it is appended only if it dispatches the run",
    async (_, before, facts, expected) => {
      const { log, dispatch, key } = await runWith(created, ...before);
      const steps: string[] = [];
      const ports = {
        log: {
          append: (...args: Parameters<RunLog["append"]>) => {
            steps.push("append");
            return log.append(...args);
          },
          read: (...args: Parameters<RunLog["read"]>) => log.read(...args),
          follow: (...args: Parameters<RunLog["follow"]>) => log.follow(...args),
        },
        dispatch: {
          prepare: () => void steps.push("prepare"),
          publish: (...args: Parameters<typeof dispatch.publish>) => {
            steps.push("publish");
            return dispatch.publish(...args);
          },
        },
      };
      await appendExternal(ports, key, () => facts, signal);
      expect(steps).toEqual(expected);
    },
  );

  test("follows the log from where it has read it, however long the log is", async () => {
    const { log, dispatch, key } = await runWith(created, claimed);
    const { tail } = await log.read(key, emptyTail, signal);
    const followed: unknown[] = [];
    const overtaken: RunLog = {
      append: async (of, after, events, within) => {
        if (followed.length > 0) return await log.append(of, after, events, within);
        await appendEvents(log, of, after, eventsAfter(after.sequence, submitted("m0")), within);
        return { kind: "conflict" };
      },
      read: (...args) => log.read(...args),
      follow: (of, after, within) => {
        followed.push(after);
        return log.follow(of, after, within);
      },
    };
    await appendExternal({ log: overtaken, dispatch }, key, submitOnce("m1"), signal);
    expect(followed).toEqual([tail]);
  });

  // Requirement: HITL-6
  test("leaves an owner alone, and wakes a parked run once for each park", async () => {
    const { log, dispatch, key } = await runWith(created, claimed);
    await appendExternal({ log, dispatch }, key, submitOnce("m1"), signal);
    expect(dispatch.length).toBe(0);
    const { tail } = await log.read(key, emptyTail, signal);
    await appendEvents(log, key, tail, eventsAfter(tail.sequence, parked), signal);
    await appendExternal({ log, dispatch }, key, submitOnce("m2"), signal);
    await appendExternal({ log, dispatch }, key, submitOnce("m3"), signal);
    expect(dispatch.length).toBe(1);
    const { tail: woken } = await log.read(key, emptyTail, signal);
    await appendEvents(log, key, woken, eventsAfter(woken.sequence, claimed, parked), signal);
    await appendExternal({ log, dispatch }, key, submitOnce("m4"), signal);
    expect(dispatch.length).toBe(2);
  });

  test("wakes the run when it is repeated after its dispatch was lost", async () => {
    const { log, dispatch, key } = await runWith(created, claimed, parked);
    const lost = {
      publish: () => Promise.reject(new Failure("unavailable", ErrorReason.UNAVAILABLE, "gone")),
    };
    await expect(
      appendExternal({ log, dispatch: lost }, key, submitOnce("m1"), signal),
    ).rejects.toMatchObject({ kind: "unavailable" });
    const head = await appendExternal({ log, dispatch }, key, submitOnce("m1"), signal);
    expect(head.lastSequence).toBe(4);
    expect(dispatch.length).toBe(1);
  });

  test("does not wake a parked run when the decision is to append nothing", async () => {
    const { log, dispatch, key } = await runWith(created, claimed, parked);
    const head = await appendExternal({ log, dispatch }, key, () => [], signal);
    expect(head.status).toBe(RunStatus.WAITING);
    expect(dispatch.length).toBe(0);
  });

  test("is refused after the end", async () => {
    const { log, dispatch, key } = await runWith(created, cancelled);
    await expect(
      appendExternal({ log, dispatch }, key, submitOnce("m1"), signal),
    ).rejects.toMatchObject({
      kind: "precondition",
      reason: ErrorReason.RUN_ENDED,
      message: `run ${key.run} has ended: cancelled`,
    });
  });

  // Requirement: DUR-5
  test("is refused in a log with an event of a newer version, unless it ends the run", async () => {
    const { log, dispatch, key } = await runWith(created, claimed);
    const { tail } = await log.read(key, emptyTail, signal);
    await appendEvents(log, key, tail, [unknownEvent(key.run, 3)], signal);
    await expect(
      appendExternal({ log, dispatch }, key, submitOnce("m1"), signal),
    ).rejects.toMatchObject({ kind: "unavailable", reason: ErrorReason.NEWER_VERSION });
    const head = await appendExternal({ log, dispatch }, key, () => [cancelled], signal);
    expect(head).toMatchObject({ status: RunStatus.CANCELLED, unknownEventSequence: 3 });
  });

  test("is decided again when another writer was first", async () => {
    const { log, dispatch, key } = await runWith(created, claimed);
    let isFirst = true;
    const racing: RunLog = {
      append: async (of, tail, events, within) => {
        if (isFirst) {
          isFirst = false;
          await appendEvents(log, key, tail, eventsAfter(tail.sequence, cancelled), within);
        }
        return log.append(of, tail, events, within);
      },
      read: (...args) => log.read(...args),
      follow: (...args) => log.follow(...args),
    };
    await expect(
      appendExternal({ log: racing, dispatch }, key, submitOnce("m1"), signal),
    ).rejects.toMatchObject({ reason: ErrorReason.RUN_ENDED });
  });

  test("is refused when its decision throws", async () => {
    const { log, dispatch, key } = await runWith(created);
    const refusal = new Failure("denied", ErrorReason.PERMISSION_DENIED, "not yours");
    const decide = () => {
      throw refusal;
    };
    await expect(appendExternal({ log, dispatch }, key, decide, signal)).rejects.toBe(refusal);
  });
});

function read(name: string): string {
  return readFileSync(join(import.meta.dirname, name), "utf8");
}

test("the invariants of external appends name tests that exist", () => {
  const cited = [...read("append-external.ts").matchAll(/Test: (\S+\.ts), "(.+)"$/gm)];
  expect(cited).toHaveLength(8);
  for (const [, name = "", title = ""] of cited) expect(read(name)).toContain(`"${title}"`);
});
