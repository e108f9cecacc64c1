import { expect, test } from "vitest";
import { deliveryOf, key, request } from "../../test/support/call-bench.ts";
import type { CallDelivery } from "../ports/call-delivery.ts";
import { Slots } from "./slots.ts";

test("a message that is delivered again to its host continues, and is settled by its latest delivery", async () => {
  const slots = new Slots(4);
  const end = Promise.withResolvers<void>();
  const [first, again] = [deliveryOf(request()), deliveryOf(request())];
  let begun = 0;
  const work = async (delivery: CallDelivery) => {
    begun++;
    await end.promise;
    delivery.acknowledge();
  };
  slots.begin(first, work);
  slots.begin(again, work);
  end.resolve();
  await slots.settled();
  expect(begun).toBe(1);
  expect([first.settled, again.settled]).toEqual([["forgotten"], ["acknowledged"]]);
});

test("a host settles a call as long as one of its deliveries is in progress", async () => {
  const slots = new Slots(4);
  const end = Promise.withResolvers<void>();
  slots.begin(deliveryOf(request(), 7), () => end.promise);
  expect(slots.isSettling(key, { except: 8 })).toBe(true);
  expect(slots.isSettling(key, { except: 7 })).toBe(false);
  expect(slots.isSettling({ ...key, call: "other" })).toBe(false);
  end.resolve();
  await slots.settled();
  expect(slots.isSettling(key)).toBe(false);
});
