import { create } from "@bufbuild/protobuf";
import { RunEventSchema } from "@reeve/contracts/run";
import { RunLiveness } from "@reeve/contracts/toolhost";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { expect, test } from "vitest";
import { confirmedEnds } from "./confirmed-ends.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_1" };

/** The ends of logs as a server that lacks the run answers, and what a gateway says of it. */
function endsOf(state: RunLiveness, { isReplicated = true } = {}) {
  const asked: string[] = [];
  const log = memoryRunLog();
  const runs = { isReplicated, last: log.last.bind(log) };
  const ofRun = async (_: string, run: string) => {
    asked.push(run);
    return await Promise.resolve(state);
  };
  return { log, asked, ends: confirmedEnds(runs, { ofRun }) };
}

test("a run that a gateway does not find does not exist", async () => {
  const { ends, asked } = endsOf(RunLiveness.MISSING);
  expect((await ends.last(key, never)).tail).toEqual(emptyTail);
  expect(asked).toEqual([key.run]);
});

test.each([RunLiveness.OPEN, RunLiveness.ENDED])(
  "a run that a gateway finds is unavailable until the own server has it: %i",
  async (state) => {
    const { ends } = endsOf(state);
    await expect(ends.last(key, never)).rejects.toMatchObject({ kind: "unavailable" });
  },
);

test("no gateway is asked for a run that is found, or when one server keeps the logs", async () => {
  const found = endsOf(RunLiveness.MISSING);
  await found.log.append(key, emptyTail, [create(RunEventSchema, { sequence: 1 })], never);
  expect((await found.ends.last(key, never)).tail.sequence).toBe(1);
  const single = endsOf(RunLiveness.OPEN, { isReplicated: false });
  expect((await single.ends.last(key, never)).tail).toEqual(emptyTail);
  expect([...found.asked, ...single.asked]).toEqual([]);
});
