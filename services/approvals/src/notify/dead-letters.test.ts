import type { DeadNotification, Notification } from "@reeve/contracts/notification";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { expect, test } from "vitest";
import { noon, notificationOf } from "../../test/support/notifications.ts";
import { DeadLetters } from "./dead-letters.ts";

const never = new AbortController().signal;
const page = { receiver: "", pageSize: 0, pageToken: "" };

const dead = (notificationId: string, fields: Partial<Notification> = {}) => ({
  notification: Object.assign(notificationOf(), { notificationId, ...fields }),
  problem: "status 400",
  attempts: 5,
  nowMs: noon,
});

async function lettersOf(...letters: readonly ReturnType<typeof dead>[]) {
  const deadLetters = new DeadLetters(new MemoryTable<DeadNotification>());
  for (const letter of letters) await deadLetters.add(letter, never);
  const queue = new MemoryWorkQueue<Notification>();
  return { deadLetters, queue, queues: new Map([["on-call", queue]]) };
}

const idsIn = (items: readonly DeadNotification[]) =>
  items.map(({ notification }) => notification?.notificationId);

test("dead letters are listed by tenant and receiver, in pages", async () => {
  const { deadLetters } = await lettersOf(
    dead("msg_1"),
    dead("msg_2", { receiver: "mail" }),
    dead("msg_3"),
    dead("msg_4", { tenant: "globex" }),
  );
  const first = await deadLetters.list("acme", { ...page, pageSize: 2 }, never);
  expect(idsIn(first.items)).toEqual(["msg_1", "msg_2"]);
  const rest = { ...page, pageToken: first.nextPageToken };
  expect(idsIn((await deadLetters.list("acme", rest, never)).items)).toEqual(["msg_3"]);
  const mails = await deadLetters.list("acme", { ...page, receiver: "mail" }, never);
  expect(idsIn(mails.items)).toEqual(["msg_2"]);
});

class CountedTable extends MemoryTable<DeadNotification> {
  lists = 0;

  override list(...given: Parameters<MemoryTable<DeadNotification>["list"]>) {
    this.lists++;
    return super.list(...given);
  }
}

test("a list in pages reads all rows once, and yields each letter once while letters are replayed", async () => {
  const rows = new CountedTable();
  const deadLetters = new DeadLetters(rows);
  const ids = Array.from({ length: 25 }, (_, index) => `msg_${String(index + 10)}`);
  for (const [index, id] of ids.entries()) {
    await deadLetters.add(dead(id, index % 5 === 4 ? { receiver: "mail" } : {}), never);
  }
  const queue = new MemoryWorkQueue<Notification>();
  const walk = async (receiver: string, isReplaying: boolean, last = deadLetters) => {
    const walked: (string | undefined)[] = [];
    let pageToken = "";
    do {
      const from = pageToken === "" ? deadLetters : last;
      const read = await from.list("acme", { receiver, pageSize: 4, pageToken }, never);
      walked.push(...idsIn(read.items));
      ({ nextPageToken: pageToken } = read);
      if (!isReplaying) continue;
      const which = { tenant: "acme", notificationId: walked.at(-1) ?? "" };
      await deadLetters.replay(which, new Map([["on-call", queue]]), noon, never);
    } while (pageToken !== "");
    return walked;
  };
  expect(await walk("", false)).toEqual(ids);
  expect(rows.lists).toBe(1);
  expect(await walk("mail", false)).toEqual(["msg_14", "msg_19", "msg_24", "msg_29", "msg_34"]);
  // Another process answers the further pages.
  expect(await walk("", false, new DeadLetters(rows))).toEqual(ids);
  const onCall = ids.filter((_, index) => index % 5 !== 4);
  expect(await walk("on-call", true)).toEqual(onCall);
  expect(rows.lists).toBe(5);
  expect(await walk("on-call", false)).toHaveLength(15);
});

test("a replay queues a notification with its id and a new age, and only once", async () => {
  const { deadLetters, queue, queues } = await lettersOf(dead("msg_1"));
  const key = { tenant: "acme", notificationId: "msg_1" };
  await deadLetters.replay(key, queues, noon + 5_000, never);
  expect(queue.length).toBe(1);
  for await (const { message } of queue.take(1, never)) {
    expect(message).toMatchObject({
      notificationId: "msg_1",
      queuedAt: { seconds: BigInt(noon / 1_000 + 5) },
    });
    break;
  }
  await expect(deadLetters.replay(key, queues, noon, never)).rejects.toMatchObject({
    kind: "not_found",
  });
});

test("two operators who replay at once queue a notification once", async () => {
  const { deadLetters, queue, queues } = await lettersOf(dead("msg_1"));
  const key = { tenant: "acme", notificationId: "msg_1" };
  const replay = () => deadLetters.replay(key, queues, noon, never).catch(() => undefined);
  await Promise.all([replay(), replay()]);
  expect(queue.length).toBe(1);
});

test("a notification that dies again after a replay can be replayed again", async () => {
  const { deadLetters, queue, queues } = await lettersOf(dead("msg_1"));
  const key = { tenant: "acme", notificationId: "msg_1" };
  await deadLetters.replay(key, queues, noon, never);
  await deadLetters.add(dead("msg_1"), never);
  await deadLetters.replay(key, queues, noon, never);
  expect(queue.length).toBe(2);
});

test("dead letters of another tenant, or of a removed receiver, are not replayed", async () => {
  const { deadLetters, queues } = await lettersOf(
    dead("msg_1"),
    dead("msg_2", { receiver: "old" }),
  );
  const replay = (tenant: string, notificationId: string) =>
    deadLetters.replay({ tenant, notificationId }, queues, noon, never);
  await expect(replay("globex", "msg_1")).rejects.toMatchObject({ kind: "not_found" });
  await expect(replay("acme", "msg_2")).rejects.toThrow(/receiver old, which REEVE_NOTIFY/);
  const { items } = await deadLetters.list("acme", page, never);
  expect(idsIn(items)).toEqual(["msg_1", "msg_2"]);
});
