import { expect, test } from "vitest";
import { channelOf, shardChannel } from "../channel.ts";
import { RunBatchSchema } from "../run.ts";
import { shardOf } from "./shard-of.ts";
import { ThreadBatchSchema } from "../thread.ts";

// Every process and every version must find a log where others have written it.
test.each([
  ["run_1", 4, 3],
  ["run_2", 4, 1],
  ["run_1", 16, 3],
  ["run_1", 1, 0],
])("the shard of %s among %i never changes", (run, count, shard) => {
  expect(shardOf({ tenant: "acme", run }, count)).toBe(shard);
});

test("logs are spread over all shards", () => {
  const counts = Array.from({ length: 16 }, () => 0);
  for (let index = 0; index < 16_000; index++) {
    const shard = shardOf({ tenant: "acme", run: `run_${index}` }, counts.length);
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(850);
  expect(Math.max(...counts)).toBeLessThan(1_150);
});

test("the channel of a shard has its own subjects and stream, and the live subjects of the whole", () => {
  const whole = channelOf(RunBatchSchema);
  const shard = shardChannel(RunBatchSchema, { index: 3, count: 4 });
  const tokens = { tenant: "acme", run: "run_1" };
  expect(shard.subject(tokens)).toBe("run.acme.run_1.log.3");
  expect(shard.tokensOf("run.acme.run_1.log.3")).toEqual(tokens);
  expect(shard.tokensOf("run.acme.run_1.log.2")).toBeUndefined();
  expect(shard.stream?.name).toBe("RUNS_3");
  expect(shard.wildcard).toBe("run.*.*.log.3");
  expect(shard.liveSubject(tokens)).toBe(whole.liveSubject(tokens));
  expect(shard.liveTransform).toBe(whole.liveTransform);
});

test("a channel that declares no shards has none", () => {
  expect(() => shardChannel(ThreadBatchSchema, { index: 0, count: 2 })).toThrow("has no shards");
});

test("the first shard reserves the subjects of a store without shards", () => {
  const shards = [0, 1].map((index) => shardChannel(RunBatchSchema, { index, count: 2 }));
  expect(shards.map(({ reserved }) => reserved)).toEqual([["run.*.*.log"], []]);
  expect(shards[0]?.wildcards).toEqual(["run.*.*.log.0"]);
});
