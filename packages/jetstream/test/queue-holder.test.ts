import { create } from "@bufbuild/protobuf";
import type { NatsConnection } from "@nats-io/transport-node";
import { QueueHolderSchema } from "@reeve/contracts/queue";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openTable } from "../src/table/nats.ts";
import { HolderProcess } from "./support/holder-process.ts";
import { NatsBench } from "./support/nats-bench.ts";

const signal = new AbortController().signal;
let bench: NatsBench;
let count = 0;

beforeAll(async () => {
  bench = await NatsBench.open();
});

afterAll(() => bench[Symbol.asyncDispose]());

beforeEach(() => {
  count++;
});

function start(name: string): Promise<HolderProcess> {
  return bench.connect().then((nats) => HolderProcess.start(nats, `${name}-${count}`));
}

/** Returns a connection that loses the first release of a message, as a consumer without a leader does. */
function losingFirstRelease(nats: Nats) {
  let lost = 0;
  const request: NatsConnection["request"] = (subject, ...args) => {
    if (!subject.startsWith("$JS.ACK.") || lost > 0) {
      return nats.connection.request(subject, ...args);
    }
    lost++;
    return Promise.reject(new Error("the request was lost"));
  };
  const connection = new Proxy(nats.connection, {
    get: (target, name) => {
      if (name === "request") return request;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
  const dispose = () => nats[Symbol.asyncDispose]();
  return { nats: { ...nats, connection, [Symbol.asyncDispose]: dispose }, lost: () => lost };
}

describe("a message whose taker was killed", () => {
  // Requirement: DUR-3
  test("goes to another taker at once, without the ack-wait", async () => {
    const [first, second] = [await start("first"), await start("second")];
    const sequence = await first.publish("run_1");
    const held = await first.take();
    await first.isKnownToHold(sequence);
    await first.kill();
    const again = await second.take();
    expect(again).toMatchObject({ sequence: held.sequence, attempt: 2 });
    again.acknowledge();
    await second.holder[Symbol.asyncDispose]();
  });

  test("goes to another taker also when it was taken directly before the end", async () => {
    const [first, second] = [await start("first"), await start("second")];
    const [one, two] = [await first.publish("run_1"), await first.publish("run_2")];
    await first.take();
    await first.take();
    // As a claim does. Once it is stored, so is the row, which was sent before it.
    await first.publish("run_3");
    await first.kill();
    const taken = [await second.take(), await second.take(), await second.take()];
    const redelivered = taken.filter(({ attempt }) => attempt === 2);
    expect(redelivered.map(({ sequence }) => sequence).toSorted((a, b) => a - b)).toEqual([
      one,
      two,
    ]);
    for (const delivery of taken) delivery.acknowledge();
    await second.holder[Symbol.asyncDispose]();
  });

  test("goes to another taker when the process that released it died before it had finished", async () => {
    const first = await start("first");
    const sequence = await first.publish("run_1");
    await first.take();
    await first.isKnownToHold(sequence);
    await first.kill();
    const second = await start("second");
    const held = [{ stream: "DISPATCH", consumer: "lane-2", sequences: [BigInt(sequence)] }];
    const begun = { holder: first.name, held, crashed: true, releasedBy: "a-dead-process" };
    const table = await openTable(second.nats, QueueHolderSchema);
    await table.put(first.name, create(QueueHolderSchema, begun), signal);
    const again = await second.take();
    expect(again.sequence).toBe(sequence);
    again.acknowledge();
    await expect
      .poll(async () => (await table.get(first.name, signal))?.record, { timeout: 20_000 })
      .toMatchObject({ crashed: true, held: [] });
    await second.holder[Symbol.asyncDispose]();
  });

  test("goes to another taker although the store did not get its first release", async () => {
    const losing = losingFirstRelease(await bench.connect());
    const [first, second] = [
      await start("first"),
      await HolderProcess.start(losing.nats, `second-${count}`),
    ];
    const sequence = await first.publish("run_1");
    await first.take();
    await first.isKnownToHold(sequence);
    await first.kill();
    const again = await second.take();
    expect(again).toMatchObject({ sequence, attempt: 2 });
    expect(losing.lost()).toBe(1);
    again.acknowledge();
    await second.holder[Symbol.asyncDispose]();
  });

  test("goes to a process that starts later", async () => {
    const first = await start("first");
    const sequence = await first.publish("run_1");
    await first.take();
    await first.isKnownToHold(sequence);
    await first.kill();
    const second = await start("second");
    const again = await second.take();
    expect(again).toMatchObject({ sequence, attempt: 2 });
    again.acknowledge();
    await second.holder[Symbol.asyncDispose]();
  });

  test("is not taken from the process that holds it now", async () => {
    const [first, second, third] = [
      await start("first"),
      await start("second"),
      await start("third"),
    ];
    const sequence = await first.publish("run_1");
    const held = await first.take();
    await first.isKnownToHold(sequence);
    // As after the ack-wait: the row of the first process still names the message.
    held.returnToQueue(0);
    const table = await openTable(second.nats, QueueHolderSchema);
    const again = await second.take();
    await second.isKnownToHold(sequence);
    const stale = { stream: "DISPATCH", consumer: "lane-2", sequences: [BigInt(sequence)] };
    await first.holder[Symbol.asyncDispose]();
    await first.kill();
    await table.put(
      first.name,
      create(QueueHolderSchema, { holder: first.name, held: [stale] }),
      signal,
    );
    await expect
      .poll(async () => (await table.get(first.name, signal))?.record.crashed, { timeout: 20_000 })
      .toBe(true);
    const next = await third.publish("run_2");
    const taken = await third.take();
    expect(taken.sequence).toBe(next);
    taken.acknowledge();
    again.acknowledge();
    await second.holder[Symbol.asyncDispose]();
    await third.holder[Symbol.asyncDispose]();
  });
});

test("a process that was taken for dead settles none of the messages that it held", async () => {
  const [slow, other] = [await start("slow"), await start("other")];
  const sequence = await slow.publish("run_1");
  const held = await slow.take();
  await slow.isKnownToHold(sequence);
  const table = await openTable(other.nats, QueueHolderSchema);
  const crashed = create(QueueHolderSchema, { holder: slow.name, crashed: true });
  await table.put(slow.name, crashed, signal);
  // It announces itself again once it has seen this.
  await expect
    .poll(async () => (await table.get(slow.name, signal))?.record.crashed, { timeout: 20_000 })
    .toBe(false);
  held.acknowledge();
  await slow.nats.connection.flush();
  expect(await other.queue.holds(sequence, signal)).toBe(true);
  await slow.holder[Symbol.asyncDispose]();
  await other.holder[Symbol.asyncDispose]();
});

test("a process learns what became of another one", async () => {
  const [self, alive, ended, crashed] = [
    await start("self"),
    await start("alive"),
    await start("ended"),
    await start("crashed"),
  ];
  await ended.holder[Symbol.asyncDispose]();
  await ended.kill();
  await crashed.kill();
  const fates = () =>
    Promise.all([alive, ended, crashed].map(({ name }) => self.holder.fateOf(name, signal)));
  // The server may notice the end of a connection later than the process that closes it.
  await expect.poll(fates).toEqual(["alive", "ended", "crashed"]);
  const table = await openTable(self.nats, QueueHolderSchema);
  await expect
    .poll(async () => (await table.get(crashed.name, signal))?.record.crashed, { timeout: 20_000 })
    .toBe(true);
  expect(await self.holder.fateOf(crashed.name, signal)).toBe("crashed");
  await self.holder[Symbol.asyncDispose]();
  await alive.holder[Symbol.asyncDispose]();
});

// Requirement: DUR-3
test("the runs that another executor gave to a killed process go to one of those that ask for them", async () => {
  const [first, second, third] = [
    await start("first"),
    await start("second"),
    await start("third"),
  ];
  first.holder.carry("run_1");
  first.holder.carry("run_2")[Symbol.dispose]();
  const table = await openTable(second.nats, QueueHolderSchema);
  const rowOf = async () => (await table.get(first.name, signal))?.record;
  await expect.poll(async () => (await rowOf())?.carriedRuns).toEqual(["run_1"]);
  // The row has a limit.
  for (let count = 0; count < 1_010; count++) third.holder.carry(`run of third ${count}`);
  const namedByThird = async () => (await table.get(third.name, signal))?.record.carriedRuns.length;
  await expect.poll(namedByThird).toBe(1_000);
  const end = new AbortController();
  const lost: object[] = [];
  const ask = async ({ holder }: HolderProcess) => {
    for await (const runs of holder.lostRuns(end.signal)) lost.push(runs);
  };
  const asking = [second, third].map(ask);
  await first.kill();
  await expect
    .poll(() => lost, { timeout: 20_000 })
    .toEqual([{ worker: first.name, runs: ["run_1"] }]);
  expect(await rowOf()).toMatchObject({ crashed: true, carriedRuns: [] });
  end.abort();
  await Promise.allSettled(asking);
  expect(lost).toHaveLength(1);
  for (const { holder } of [second, third]) await holder[Symbol.asyncDispose]();
});
