import { create } from "@bufbuild/protobuf";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import { every } from "@reeve/platform/async/every";
import { describe, expect, test } from "vitest";
import type { Delivery, WorkQueue } from "../../src/queue/port.ts";

/** Takes deliveries for a test, one at a time. */
export class Taker implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #deliveries: AsyncIterator<Delivery<Dispatch>>;

  constructor(queue: WorkQueue<Dispatch>, concurrency: number) {
    this.#deliveries = queue.take(concurrency, this.#stop.signal)[Symbol.asyncIterator]();
  }

  async next(): Promise<Delivery<Dispatch>> {
    const { value, done } = await this.#deliveries.next();
    if (done === true) throw new Error("the queue ended");
    return value;
  }

  /** Ends like a process that shuts down: deliveries in flight return to the queue. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("enough"));
    await Promise.allSettled([this.#deliveries.next()]);
  }
}

/** Extends deliveries while a test does other things with their queue, as takers do. */
function extending(deliveries: readonly Delivery<Dispatch>[], extendMs: number): Disposable {
  return every(extendMs, () => deliveries.forEach((delivery) => delivery.extend()));
}

/**
 * The contract of every adapter of a queue. `open` returns two connections to an empty queue, whose takers extend their messages
 * every `extendMs`.
 */
export function queueContract(
  where: string,
  extendMs: number,
  open: () => Promise<readonly [WorkQueue<Dispatch>, WorkQueue<Dispatch>]>,
): void {
  describe(`a queue ${where}`, () => {
    const signal = new AbortController().signal;
    const publish = (queue: WorkQueue<Dispatch>, runId: string, dedupeId: string = runId) =>
      queue.publish(create(DispatchSchema, { tenant: "acme", runId }), { dedupeId }, signal);

    test("delivers a message, and never again after it is acknowledged", async () => {
      const [queue, other] = await open();
      await using taker = new Taker(other, 2);
      await publish(queue, "run_1");
      const first = await taker.next();
      expect(first).toMatchObject({ message: { tenant: "acme", runId: "run_1" }, attempt: 1 });
      first.acknowledge();
      await publish(queue, "run_2");
      const second = await taker.next();
      expect(second.message.runId).toBe("run_2");
      expect(second.sequence).toBeGreaterThan(first.sequence);
      second.acknowledge();
    });

    test("drops a repeated publication", async () => {
      const [queue, other] = await open();
      await publish(queue, "run_1", "once");
      await publish(other, "run_1", "once");
      await publish(queue, "run_2", "another");
      await using taker = new Taker(queue, 3);
      const taken = [await taker.next(), await taker.next()];
      expect(taken.map(({ message }) => message.runId)).toEqual(["run_1", "run_2"]);
      for (const delivery of taken) delivery.acknowledge();
    });

    test("returns the sequence of a message, also when it is published again", async () => {
      const [queue, other] = await open();
      await using taker = new Taker(other, 2);
      const first = await publish(queue, "run_1", "once");
      expect(await publish(other, "run_1", "once")).toBe(first);
      expect(await publish(other, "run_2")).toBeGreaterThan(first);
      expect((await taker.next()).sequence).toBe(first);
    });

    test("holds a message until it is acknowledged, even while a taker has it", async () => {
      const [queue, other] = await open();
      await using taker = new Taker(other, 1);
      const sequence = await publish(queue, "run_1");
      expect(await queue.holds(sequence, signal)).toBe(true);
      expect(await queue.holds(sequence + 1, signal)).toBe(false);
      const delivery = await taker.next();
      expect(await queue.holds(sequence, signal)).toBe(true);
      delivery.acknowledge();
      // An acknowledgement gets no answer. The permit is free when the next message arrives.
      await publish(queue, "run_2");
      (await taker.next()).acknowledge();
      await expect.poll(() => queue.holds(sequence, signal)).toBe(false);
    });

    test("delivers each message to one taker", async () => {
      const [queue, other] = await open();
      await using one = new Taker(queue, 2);
      await using two = new Taker(other, 2);
      const runs = ["run_1", "run_2", "run_3", "run_4"];
      for (const runId of runs) await publish(queue, runId);
      const first = [await one.next(), await one.next()];
      using _ = extending(first, extendMs);
      const taken = [...first, await two.next(), await two.next()];
      expect(taken.map(({ message }) => message.runId).toSorted()).toEqual(runs);
      for (const delivery of taken) delivery.acknowledge();
    });

    test("delivers to a taker no more than it has permits", async () => {
      const [queue] = await open();
      for (const runId of ["run_1", "run_2", "run_3"]) await publish(queue, runId);
      await using taker = new Taker(queue, 2);
      const held = [await taker.next(), await taker.next()];
      using _ = extending(held, extendMs);
      let isTaken = false;
      const third = taker.next().finally(() => (isTaken = true));
      // The message goes through the queue to another taker while the first taker waits for it.
      await using other = new Taker(queue, 1);
      const passing = await other.next();
      expect(passing.message.runId).toBe("run_3");
      expect(isTaken).toBe(false);
      passing.returnToQueue(0);
      held[0]?.acknowledge();
      held[1]?.acknowledge();
      const last = await Promise.race([third, other.next()]);
      expect(last.message.runId).toBe("run_3");
      last.acknowledge();
    });

    test("redelivers the message of a silent taker under the same sequence", async () => {
      const [queue, other] = await open();
      await publish(queue, "run_1");
      await using silent = new Taker(queue, 1);
      const first = await silent.next();
      await using healthy = new Taker(other, 1);
      const second = await healthy.next();
      expect(second.message.runId).toBe("run_1");
      expect(second.sequence).toBe(first.sequence);
      expect(second.attempt).toBeGreaterThan(first.attempt);
      second.acknowledge();
      first.abandon();
    });

    test("leaves a message with a taker that extends it, however long that works", async () => {
      const [queue, other] = await open();
      await publish(queue, "run_1");
      await using busy = new Taker(queue, 1);
      const held = await busy.next();
      const alive = setInterval(() => held.extend(), extendMs);
      await using idle = new Taker(other, 1);
      await publish(queue, "run_2");
      // A message that is not extended measures the time: it is redelivered after each ack-wait.
      for (const attempt of [1, 2, 3]) {
        const clock = await idle.next();
        expect(clock).toMatchObject({ message: { runId: "run_2" }, attempt });
        if (attempt < 3) clock.abandon();
        else clock.acknowledge();
      }
      clearInterval(alive);
      held.returnToQueue(0);
      const again = await idle.next();
      expect(again).toMatchObject({ message: { runId: "run_1" }, attempt: 2 });
      again.acknowledge();
    });

    test("ends with its signal's reason", async () => {
      const [queue] = await open();
      const stop = new AbortController();
      const next = queue.take(1, stop.signal)[Symbol.asyncIterator]().next();
      stop.abort(new Error("enough"));
      await expect(next).rejects.toThrow("enough");
    });

    test("redelivers a returned message, but not before its delay", async () => {
      const [queue] = await open();
      await publish(queue, "run_1");
      await using taker = new Taker(queue, 1);
      const first = await taker.next();
      const returnedAt = performance.now();
      first.returnToQueue(150);
      const second = await taker.next();
      expect(performance.now() - returnedAt).toBeGreaterThanOrEqual(140);
      expect(second).toMatchObject({ sequence: first.sequence, attempt: 2 });
      second.acknowledge();
    });

    test("releases the permit of a taker that abandons a message, and redelivers the message", async () => {
      const [queue] = await open();
      await publish(queue, "run_1");
      await publish(queue, "run_2");
      await using taker = new Taker(queue, 1);
      const abandoned = await taker.next();
      abandoned.abandon();
      const next = await taker.next();
      expect(next.message.runId).toBe("run_2");
      next.acknowledge();
      const again = await taker.next();
      expect(again.message.runId).toBe("run_1");
      again.acknowledge();
    });

    test("loses no message when a taker ends", async () => {
      const [queue, other] = await open();
      {
        await using taker = new Taker(queue, 10);
        await publish(queue, "run_1");
        const taken = await taker.next();
        await publish(queue, "run_2");
        await publish(queue, "run_3");
        taken.acknowledge();
      }
      await using taker = new Taker(other, 10);
      const seen = new Set<string>();
      while (seen.size < 2) {
        const delivery = await taker.next();
        seen.add(delivery.message.runId);
        delivery.acknowledge();
      }
      expect([...seen].toSorted()).toEqual(["run_2", "run_3"]);
    });

    test("ignores a taker whose message went to another one", async () => {
      const [queue, other] = await open();
      await publish(queue, "run_1");
      await using silent = new Taker(queue, 1);
      const late = await silent.next();
      await using taker = new Taker(other, 2);
      const again = await taker.next();
      const alive = setInterval(() => again.extend(), extendMs);
      late.returnToQueue(0);
      late.acknowledge();
      // A message that is not extended measures the time: it is redelivered after each ack-wait.
      await publish(queue, "run_2");
      for (const attempt of [1, 2]) {
        const clock = await taker.next();
        expect(clock).toMatchObject({ message: { runId: "run_2" }, attempt });
        if (attempt < 2) clock.abandon();
        else clock.acknowledge();
      }
      expect(await queue.holds(again.sequence, signal)).toBe(true);
      clearInterval(alive);
      again.returnToQueue(0);
      const last = await taker.next();
      expect(last).toMatchObject({ message: { runId: "run_1" }, attempt: 3 });
      last.acknowledge();
    });

    test("redelivers the message of a taker that died, even if an earlier taker extends it", async () => {
      const [queue, other] = await open();
      await publish(queue, "run_1");
      await using silent = new Taker(queue, 1);
      const late = await silent.next();
      await using taker = new Taker(other, 2);
      const dead = await taker.next();
      dead.abandon();
      const zombie = setInterval(() => late.extend(), extendMs);
      const again = await taker.next();
      clearInterval(zombie);
      expect(again).toMatchObject({ message: { runId: "run_1" }, attempt: 3 });
      again.acknowledge();
      late.abandon();
    });
  });
}
