import { create } from "@bufbuild/protobuf";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import type { Delivery, WorkQueue } from "../../src/queue/port.ts";
import { Taker } from "./queue-contract.ts";

/** The most lanes that an adapter has. */
const maxLanes = 9;
const signal = new AbortController().signal;

async function publishMany(
  queue: WorkQueue<Dispatch>,
  tenant: string,
  count: number,
): Promise<readonly string[]> {
  const runs = Array.from({ length: count }, (_, run) => `${tenant}_${run}`);
  const publish = (runId: string) =>
    queue.publish(create(DispatchSchema, { tenant, runId }), { dedupeId: runId }, signal);
  await Promise.all(runs.map(publish));
  return runs;
}

/** The contract of adapters of a queue that tenants share. `open` returns two connections to an empty queue. */
export function fairnessContract(
  where: string,
  open: () => Promise<readonly [WorkQueue<Dispatch>, WorkQueue<Dispatch>]>,
): void {
  describe(`a queue of several tenants ${where}`, () => {
    // Requirement: HOST-10
    test.each([1, 4, 20])(
      "serves the first message of a second tenant soon while another has 1,000 queued: with %i slots",
      async (slots) => {
        const [queue, other] = await open();
        await publishMany(queue, "acme", 1_000);
        await using taker = new Taker(other, slots);
        for (let served = 0; served < 50; served++) (await taker.next()).acknowledge();
        await publishMany(queue, "globex", 1);
        let before = 0;
        for (;;) {
          const { message, acknowledge } = await taker.next();
          acknowledge();
          if (message.tenant === "globex") break;
          before += 1;
        }
        expect(before).toBeLessThanOrEqual(slots + maxLanes);
      },
    );

    // Requirement: HOST-10
    test("serves two tenants in turn, however many messages one of them has", async () => {
      const [queue, other] = await open();
      await publishMany(queue, "acme", 200);
      await publishMany(queue, "globex", 20);
      await using taker = new Taker(other, 1);
      let served = 0;
      for (let left = 20; left > 0; served++) {
        const { message, acknowledge } = await taker.next();
        acknowledge();
        if (message.tenant === "globex") left -= 1;
      }
      // One message may be served before the taker knows that the other lane has messages.
      expect(served).toBeLessThanOrEqual(2 * 20 + maxLanes);
    });

    test("a taker never holds more messages than it has slots, and receives each one once", async () => {
      const [queue, other] = await open();
      const published = [
        ...(await publishMany(queue, "acme", 60)),
        ...(await publishMany(queue, "globex", 60)),
      ];
      await using taker = new Taker(other, 3);
      const held: Delivery<Dispatch>[] = [];
      const seen: string[] = [];
      while (seen.length < published.length) {
        if (held.length === 3) held.shift()?.acknowledge();
        const delivery = await taker.next();
        held.push(delivery);
        seen.push(delivery.message.runId);
      }
      for (const delivery of held) delivery.acknowledge();
      expect(seen.toSorted()).toEqual(published.toSorted());
    });

    test("loses no message when takers end while messages arrive", async () => {
      const [queue, other] = await open();
      const publishing = publishMany(queue, "acme", 100);
      const seen = new Set<string>();
      while (seen.size < 100) {
        await using taker = new Taker(other, 5);
        for (let taken = 0; taken < 7 && seen.size < 100; taken++) {
          const delivery = await taker.next();
          seen.add(delivery.message.runId);
          delivery.acknowledge();
        }
      }
      expect([...seen].toSorted()).toEqual((await publishing).toSorted());
    });
  });
}
