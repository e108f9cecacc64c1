import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DeadNotification, Notification } from "@reeve/contracts/notification";
import { NotificationSchema } from "@reeve/contracts/notification";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import { noon } from "../../test/support/notifications.ts";
import { DeadLetters } from "./dead-letters.ts";
import { deliverNotifications } from "./deliver-notifications.ts";
import type { Attempt, Sender } from "./send/sender.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const limits = { firstDelayMs: 1, maxDelayMs: 2, giveUpMs: 1_000, maxRefusals: 3 };
const unavailable = { kind: "unavailable", problem: "down" } as const;
const refused = { kind: "refused", problem: "status 400" } as const;
const delivered = { kind: "delivered" } as const;

const notification = (id: string) =>
  create(NotificationSchema, {
    notificationId: id,
    receiver: "on-call",
    tenant: "acme",
    queuedAt: timestampFromMs(noon),
  });

/** Delivers with a sender until the queue has nothing left. Returns the ids of all attempts, and the dead letters. */
async function deliver(
  ids: readonly string[],
  answer: (id: string, attempt: number) => Attempt,
  clock = new ManualClock(noon),
) {
  const queue = new MemoryWorkQueue<Notification>();
  const sequences: number[] = [];
  for (const id of ids)
    sequences.push(await queue.publish(notification(id), { dedupeId: id }, never));
  const rows = new MemoryTable<DeadNotification>();
  const attempts: string[] = [];
  const sender: Sender = {
    send: async ({ notificationId }) => {
      attempts.push(notificationId);
      return answer(notificationId, attempts.filter((id) => id === notificationId).length);
    },
  };
  const deadLetters = new DeadLetters(rows);
  const ports = { queue, sender, deadLetters, clock, limits, ackWaitMs: 60_000, graceMs: 0 };
  const end = new AbortController();
  const ended = deliverNotifications(ports, log, end.signal).catch(() => undefined);
  for (const sequence of sequences) {
    await expect.poll(() => queue.holds(sequence, never)).toBe(false);
  }
  end.abort();
  await ended;
  const dead = (await rows.list("acme", never)).map(({ record }) => record);
  return { attempts, dead };
}

test("a notification is sent until its receiver has it, and no more", async () => {
  const { attempts, dead } = await deliver(["a", "b"], (_, attempt) =>
    attempt < 4 ? unavailable : delivered,
  );
  expect(attempts.toSorted().join("")).toBe("aaaabbbb");
  expect(dead).toEqual([]);
});

test("a notification that its receiver refuses again and again is given up, and others are not", async () => {
  const { attempts, dead } = await deliver(["bad", "good"], (id) =>
    id === "bad" ? refused : delivered,
  );
  expect(attempts.toSorted()).toEqual(["bad", "bad", "bad", "good"]);
  expect(dead).toMatchObject([
    { notification: { notificationId: "bad" }, problem: "status 400", attempts: 3 },
  ]);
});

test("a notification that is replayed has all its attempts again", async () => {
  const queue = new MemoryWorkQueue<Notification>();
  const rows = new MemoryTable<DeadNotification>();
  const deadLetters = new DeadLetters(rows);
  const clock = new ManualClock(noon);
  let attempts = 0;
  const sender: Sender = {
    send: async () => {
      attempts++;
      const isRepaired = attempts === 2 * limits.maxRefusals;
      return isRepaired ? delivered : refused;
    },
  };
  const ports = { queue, sender, deadLetters, clock, limits, ackWaitMs: 60_000, graceMs: 0 };
  const end = new AbortController();
  const ended = deliverNotifications(ports, log, end.signal).catch(() => undefined);
  await queue.publish(notification("a"), { dedupeId: "a" }, never);
  await expect.poll(async () => (await rows.list("acme", never)).length).toBe(1);
  const queues = new Map([["on-call", queue]]);
  const replayed = { tenant: "acme", notificationId: "a" };
  await deadLetters.replay(replayed, queues, noon + 1_000, never);
  await expect.poll(() => attempts).toBe(2 * limits.maxRefusals);
  end.abort();
  await ended;
  expect(await rows.list("acme", never)).toEqual([]);
});

test("a refusal after an outage does not give up at once", async () => {
  const { dead } = await deliver(["a"], (_, attempt) => {
    if (attempt < 6) return unavailable;
    return attempt === 6 ? refused : delivered;
  });
  expect(dead).toEqual([]);
});

test("a receiver that stays unavailable for too long gets a last attempt, and then a dead letter", async () => {
  const { attempts, dead } = await deliver(["a"], () => unavailable, new ManualClock(noon + 1_000));
  expect(attempts).toEqual(["a"]);
  expect(dead).toMatchObject([{ problem: "down", attempts: 1 }]);
});

test("a notification in progress when the process stops goes to another process at once", async () => {
  const queue = new MemoryWorkQueue<Notification>();
  await queue.publish(notification("a"), { dedupeId: "a" }, never);
  const end = new AbortController();
  const sender: Sender = {
    send: async (_, signal) => {
      end.abort();
      const stopped = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => stopped.reject(signal.reason));
      return await stopped.promise;
    },
  };
  const ports = {
    queue,
    sender,
    deadLetters: new DeadLetters(new MemoryTable<DeadNotification>()),
    clock: new ManualClock(noon),
    limits: { ...limits, firstDelayMs: 3_600_000, maxDelayMs: 3_600_000 },
    ackWaitMs: 60_000,
    graceMs: 0,
  };
  await deliverNotifications(ports, log, end.signal).catch(() => undefined);
  for await (const { message, attempt } of queue.take(1, never)) {
    expect([message.notificationId, attempt]).toEqual(["a", 2]);
    break;
  }
});

test("a receiver that does not answer delays no other one", async () => {
  const stuck = new MemoryWorkQueue<Notification>();
  for (let at = 0; at < 50; at++)
    await stuck.publish(notification(`s${at}`), { dedupeId: `s${at}` }, never);
  const sending = new Set<string>();
  const hanging: Sender = {
    send: ({ notificationId }) => {
      sending.add(notificationId);
      return new Promise(() => undefined);
    },
  };
  const end = new AbortController();
  const deadLetters = new DeadLetters(new MemoryTable<DeadNotification>());
  const ports = {
    deadLetters,
    clock: new ManualClock(noon),
    limits,
    ackWaitMs: 60_000,
    graceMs: 0,
  };
  void deliverNotifications({ ...ports, queue: stuck, sender: hanging }, log, end.signal).catch(
    () => undefined,
  );
  await expect.poll(() => sending.size).toBe(4);
  const { attempts } = await deliver(["a", "b", "c"], () => delivered);
  expect(attempts.toSorted()).toEqual(["a", "b", "c"]);
  expect(sending.size).toBe(4);
});
