import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { RunEventSchema } from "@reeve/contracts/run";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { confirmedEnds } from "./confirmed-ends.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_1" };
const unknown = new Failure("unavailable", ErrorReason.UNAVAILABLE, "no gateway says");

/** The ends of logs as a server that lacks the run answers, and what a gateway says of it. */
function endsOf(answer: Promise<boolean>, { isReplicated = true } = {}) {
  const asked: string[] = [];
  const log = memoryRunLog();
  const runs = { isReplicated, last: log.last.bind(log) };
  const exists = async ({ run }: { readonly run: string }) => {
    asked.push(run);
    return await answer;
  };
  return { log, asked, ends: confirmedEnds(runs, exists) };
}

test("a run that a gateway does not find does not exist", async () => {
  const { ends, asked } = endsOf(Promise.resolve(false));
  expect((await ends.last(key, never)).tail).toEqual(emptyTail);
  expect(asked).toEqual([key.run]);
});

test("a run that a gateway finds is unavailable until the own server has it", async () => {
  const { ends } = endsOf(Promise.resolve(true));
  await expect(ends.last(key, never)).rejects.toMatchObject({ kind: "unavailable" });
});

test("a run of which no gateway says anything is unavailable", async () => {
  const { ends } = endsOf(Promise.reject(unknown));
  await expect(ends.last(key, never)).rejects.toBe(unknown);
});

test("no gateway is asked for a run that is found, or when one server keeps the logs", async () => {
  const found = endsOf(Promise.resolve(false));
  await found.log.append(key, emptyTail, [create(RunEventSchema, { sequence: 1 })], never);
  expect((await found.ends.last(key, never)).tail.sequence).toBe(1);
  const single = endsOf(Promise.resolve(true), { isReplicated: false });
  expect((await single.ends.last(key, never)).tail).toEqual(emptyTail);
  expect([...found.asked, ...single.asked]).toEqual([]);
});
