import { create } from "@bufbuild/protobuf";
import type { SweeperPresence } from "@reeve/contracts/sweeper";
import { SweeperPresenceSchema } from "@reeve/contracts/sweeper";
import { shardCount } from "@reeve/jetstream/local-index/agenda";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { expect, test } from "vitest";
import { SharedShards, shardsOf } from "./shared-shards.ts";

const never = new AbortController().signal;
const all = Array.from({ length: shardCount }, (_, shard) => shard);
const ordered = (shards: readonly number[]) => shards.toSorted((a, b) => a - b);

test("every shard belongs to exactly one of the names, and a lost name's shards to the others", () => {
  const names = ["a", "b", "c"];
  const owned = names.map((name) => shardsOf(name, names));
  expect(ordered(owned.flat())).toEqual(all);
  for (const shards of owned) expect(shards.length).toBeGreaterThan(shardCount / 10);
  const [first = [], second = []] = ["a", "b"].map((name) => shardsOf(name, ["a", "b"]));
  expect(ordered([...first, ...second])).toEqual(all);
  expect(first).toEqual(expect.arrayContaining([...(owned[0] ?? [])]));
});

/** A process that shares shards; `beat` lets it write its presence again. */
function sharing(sweepers: MemoryTable<SweeperPresence>) {
  let wake = Promise.withResolvers<void>();
  let asleep = Promise.withResolvers<void>();
  const clock = {
    sleep: async (_: number, signal: AbortSignal) => {
      asleep.resolve();
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
      await Promise.race([wake.promise, aborted]);
    },
  };
  const shards = new SharedShards(sweepers, clock);
  const end = new AbortController();
  const done = shards.share(end.signal).catch((error: unknown) => error);
  return {
    shards,
    async beat() {
      await asleep.promise;
      asleep = Promise.withResolvers();
      const { resolve } = wake;
      wake = Promise.withResolvers();
      resolve();
      await asleep.promise;
    },
    async end() {
      end.abort(new Error("ended"));
      await done;
    },
  };
}

test("the shards of a gateway that ends go to the others", async () => {
  const sweepers = new MemoryTable<SweeperPresence>();
  const [a, b] = [sharing(sweepers), sharing(sweepers)];
  await b.beat();
  await a.beat();
  expect(ordered([...a.shards.owned, ...b.shards.owned])).toEqual(all);
  expect(b.shards.owned.length).toBeGreaterThan(0);
  await b.end();
  await a.beat();
  expect(a.shards.owned).toEqual(all);
  await a.end();
  expect(await sweepers.list("", never)).toEqual([]);
});

test("a gateway whose presence others see owns nothing of their shards", async () => {
  const sweepers = new MemoryTable<SweeperPresence>();
  await sweepers.put("other", create(SweeperPresenceSchema, { sweeper: "other" }), never);
  const a = sharing(sweepers);
  await a.beat();
  expect(a.shards.owned.length).toBeLessThan(shardCount);
  await a.end();
});
