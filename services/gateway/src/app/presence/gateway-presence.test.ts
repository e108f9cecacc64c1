import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { SweeperPresence } from "@reeve/contracts/sweeper";
import { SweeperPresenceSchema } from "@reeve/contracts/sweeper";
import { shardCount } from "@reeve/jetstream/local-index/agenda";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { describe, expect, onTestFinished, test } from "vitest";
import { GatewayPresence } from "./gateway-presence.ts";

const never = new AbortController().signal;
const all = Array.from({ length: shardCount }, (_, shard) => shard);
const ordered = (shards: readonly number[]) => shards.toSorted((a, b) => a - b);

type Sweepers = MemoryTable<SweeperPresence>;

/** A gateway that came at `since`, with a clock of its own. */
function present(sweepers: Sweepers, since = 0) {
  const clock = { nowMs: 0 };
  const presence = new GatewayPresence(
    sweepers,
    { now: () => clock.nowMs },
    timestampFromMs(since),
  );
  const end = new AbortController();
  const done = presence.share(end.signal).catch((error: unknown) => error);
  const leave = async () => {
    end.abort(new Error("ended"));
    await done;
  };
  onTestFinished(leave);
  return { presence, clock, leave };
}

/** Writes the row of a gateway that does nothing more. */
async function row(sweepers: Sweepers, sweeper: string, of: Partial<SweeperPresence> = {}) {
  await sweepers.put(sweeper, create(SweeperPresenceSchema, { sweeper, ...of }), never);
}

async function isSole({ presence }: { readonly presence: GatewayPresence }): Promise<void> {
  await expect.poll(() => presence.solePeriod, { interval: 1 }).toBeDefined();
}

describe("the shards of runs", () => {
  test("of a gateway that ends go to the others", async () => {
    const sweepers: Sweepers = new MemoryTable();
    const [a, b] = [present(sweepers), present(sweepers)];
    const owned = () => ordered([...a.presence.owned, ...b.presence.owned]);
    await expect.poll(owned, { interval: 1 }).toEqual(all);
    expect(b.presence.owned.length).toBeGreaterThan(0);
    await b.leave();
    await expect.poll(() => a.presence.owned, { interval: 1 }).toEqual(all);
    await a.leave();
    expect(await sweepers.list("", never)).toEqual([]);
  });

  test("do not belong to a gateway if another one is present and ranks higher", async () => {
    const sweepers: Sweepers = new MemoryTable();
    await row(sweepers, "other");
    const a = present(sweepers);
    await a.presence.untilNoOtherIsSole(never);
    expect(a.presence.owned.length).toBeLessThan(shardCount);
  });
});

describe("a gateway", () => {
  test("says that it is alone before it is, and no longer when another one comes", async () => {
    const sweepers: Sweepers = new MemoryTable();
    const a = present(sweepers);
    await isSole(a);
    const rows = await sweepers.list("", never);
    expect(rows.map(({ record }) => record.isSole)).toEqual([true]);
    const b = present(sweepers);
    await b.presence.untilNoOtherIsSole(never);
    expect([a.presence.solePeriod, b.presence.solePeriod]).toEqual([undefined, undefined]);
  });

  test("is alone again, in another period, when the other one has left", async () => {
    const sweepers: Sweepers = new MemoryTable();
    const a = present(sweepers);
    await isSole(a);
    const first = a.presence.solePeriod;
    const b = present(sweepers);
    await b.presence.untilNoOtherIsSole(never);
    await b.leave();
    await isSole(a);
    expect(a.presence.solePeriod).not.toBe(first);
  });

  test("is not alone when its presence may have expired", async () => {
    const a = present(new MemoryTable());
    await isSole(a);
    a.clock.nowMs += 8_000;
    expect(a.presence.solePeriod).toBeUndefined();
  });

  test("waits for one that says it is alone, until its row is gone", async () => {
    const sweepers: Sweepers = new MemoryTable();
    await row(sweepers, "killed", { isSole: true });
    const a = present(sweepers);
    let isFree = false;
    const free = a.presence.untilNoOtherIsSole(never).then(() => (isFree = true));
    await expect.poll(() => a.presence.owned.length, { interval: 1 }).toBeGreaterThan(0);
    expect(isFree).toBe(false);
    await sweepers.delete("killed", never);
    await free;
  });

  test("waits for 25 seconds at most, as while the store does not answer", async () => {
    const sweepers: Sweepers = new MemoryTable();
    await row(sweepers, "killed", { isSole: true });
    const a = present(sweepers);
    const refused = a.presence.untilNoOtherIsSole(never).catch((error: unknown) => error);
    await expect.poll(() => a.presence.owned.length, { interval: 1 }).toBeGreaterThan(0);
    a.clock.nowMs += 25_000;
    await row(sweepers, "another");
    expect(await refused).toMatchObject({ kind: "unavailable" });
  });

  test("that has left refuses what needs its presence", async () => {
    const a = present(new MemoryTable());
    await isSole(a);
    await a.leave();
    expect(a.presence.solePeriod).toBeUndefined();
    expect(a.presence.reads(0)).toBe(false);
    await expect(a.presence.untilNoOtherIsSole(never)).rejects.toMatchObject({
      kind: "unavailable",
      reason: ErrorReason.DRAINING,
    });
  });
});

describe("the logs of a store", () => {
  test("are read by the gateway that came last", async () => {
    const sweepers: Sweepers = new MemoryTable();
    const [a, b] = [present(sweepers, 1), present(sweepers, 2)];
    const reading = () => [a, b].map(({ presence }) => presence.reads(0));
    await expect.poll(reading, { interval: 1 }).toEqual([false, true]);
    await b.leave();
    await expect.poll(reading, { interval: 1 }).toEqual([true, false]);
  });

  test("are read by another gateway once the last one writes its presence no more", async () => {
    const sweepers: Sweepers = new MemoryTable();
    const since = timestampFromMs(2);
    await row(sweepers, "killed", { since });
    const a = present(sweepers, 1);
    await a.presence.untilNoOtherIsSole(never);
    a.clock.nowMs += 7_999;
    expect(a.presence.reads(0)).toBe(false);
    a.clock.nowMs += 1;
    expect(a.presence.reads(0)).toBe(true);
    await row(sweepers, "killed", { since });
    await expect.poll(() => a.presence.reads(0), { interval: 1 }).toBe(false);
  });

  test("are shared shard by shard", async () => {
    const sweepers: Sweepers = new MemoryTable();
    const gateways = [present(sweepers, 1), present(sweepers, 2)];
    const reading = () => [0, 1, 2].map((s) => gateways.map(({ presence }) => presence.reads(s)));
    await expect.poll(reading, { interval: 1 }).toEqual([
      [false, true],
      [true, false],
      [false, true],
    ]);
  });

  test("are read although a gateway of a version is present that reads them in another way", async () => {
    const sweepers: Sweepers = new MemoryTable();
    await row(sweepers, "earlier");
    const a = present(sweepers);
    await expect.poll(() => a.presence.reads(0), { interval: 1 }).toBe(true);
  });
});
