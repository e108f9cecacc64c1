import { shardCount } from "@reeve/jetstream/local-index/agenda";
import { expect, test } from "vitest";
import { shardsOf } from "./shards-of.ts";

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
