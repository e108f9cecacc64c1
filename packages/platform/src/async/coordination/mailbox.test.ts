import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { Mailbox } from "./mailbox.ts";
import { neverAborts } from "../never-aborts.ts";

test("gives the reader all messages that wait, oldest first", async () => {
  const mailbox = new Mailbox<string>(10);
  mailbox.post("a");
  mailbox.post("b");
  expect(await mailbox.take(neverAborts)).toEqual(["a", "b"]);
  expect(mailbox.drain()).toEqual([]);
});

test("wakes a reader that waits, each time", async () => {
  const mailbox = new Mailbox<string>(10);
  for (const message of ["a", "b"]) {
    const taking = mailbox.take(neverAborts);
    mailbox.post(message);
    expect(await taking).toEqual([message]);
  }
});

test("does not wake a reader for a message that was drained before", async () => {
  const mailbox = new Mailbox<string>(10);
  mailbox.post("drained");
  expect(mailbox.drain()).toEqual(["drained"]);
  const taking = mailbox.take(neverAborts);
  mailbox.post("next");
  expect(await taking).toEqual(["next"]);
});

test("refuses messages beyond its bound, until the reader takes some", async () => {
  const mailbox = new Mailbox<number>(2);
  expect([1, 2, 3].map((message) => mailbox.post(message))).toEqual([true, true, false]);
  expect(mailbox.size).toBe(2);
  expect(await mailbox.take(neverAborts)).toEqual([1, 2]);
  expect(mailbox.post(4)).toBe(true);
});

test("rejects with the signal's reason, keeps its messages, and leaves no listener", async () => {
  const mailbox = new Mailbox<string>(10);
  const stop = new AbortController();
  const taking = mailbox.take(stop.signal);
  stop.abort(new Error("enough"));
  await expect(taking).rejects.toThrow("enough");
  mailbox.post("kept");
  await expect(mailbox.take(stop.signal)).rejects.toThrow("enough");
  expect(await mailbox.take(neverAborts)).toEqual(["kept"]);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
});

test("refuses messages once it is closed, and gives out what it has before its end", async () => {
  const mailbox = new Mailbox<string>(10);
  mailbox.post("last");
  mailbox[Symbol.dispose]();
  expect(mailbox.post("too late")).toBe(false);
  expect(await mailbox.take(neverAborts)).toEqual(["last"]);
  expect(await mailbox.take(neverAborts)).toEqual([]);
});

test("ends the wait of its reader when it is closed", async () => {
  const mailbox = new Mailbox<string>(10);
  const taking = mailbox.take(neverAborts);
  mailbox[Symbol.dispose]();
  expect(await taking).toEqual([]);
});
