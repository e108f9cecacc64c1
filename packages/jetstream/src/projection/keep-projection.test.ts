import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Projection, Rebuild } from "@reeve/contracts/projection";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { expect, test } from "vitest";
import { notAuthentic } from "../sealing/key-failures.ts";
import { MemoryTable } from "../table/memory.ts";
import type { ProjectionPorts } from "./keep-projection.ts";
import { keepProjection } from "./keep-projection.ts";
import type { LogEnd } from "./port.ts";
import { requestRebuild } from "./request-rebuild.ts";

const hourMs = 3_600_000;

/** A projection of three logs, whose comparisons the test counts. */
class Stage implements AsyncDisposable {
  readonly states = new MemoryTable<Projection>();
  readonly clock = new ManualClock(1_000_000);
  /** The comparisons so far: the key and the mode of each. */
  readonly compared: string[] = [];
  instance = "first";
  failing = new Set<string>();
  altered = new Set<string>();
  /** Delays each comparison. */
  slowness = Promise.resolve();
  orphans = { dropped: 2, failed: 0 };
  readonly #end = new AbortController();
  readonly #running: Promise<void>[] = [];

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  run(process = "one"): void {
    const ports: ProjectionPorts<string> = {
      table: {
        name: "rows",
        instance: () => Promise.resolve(this.instance),
        compare: async ({ key }, mode) => {
          this.compared.push(`${key} ${mode}`);
          if (this.failing.has(key)) throw new Error("lagging");
          if (this.altered.has(key)) throw notAuthentic(`log ${key}`);
          await this.slowness;
          return key === "b";
        },
        dropOrphans: () => Promise.resolve(this.orphans),
      },
      catalog: {
        async *ends(): AsyncIterable<LogEnd<string>> {
          for (const key of ["a", "b", "c"]) {
            await Promise.resolve();
            yield { key, sequence: 1, kinds: [] };
          }
        },
      },
      states: this.states,
      process,
      clock: this.clock,
      log: createLogger("test", "silent"),
    };
    this.#running.push(keepProjection(ports, this.signal).catch(() => undefined));
  }

  async state(): Promise<Projection> {
    const row = await this.states.get("rows", this.signal);
    return row?.record ?? create(ProjectionSchema, {});
  }

  /** Resolves when the state passes. */
  async until(isReached: (state: Projection) => boolean): Promise<void> {
    for await (const change of this.states.watch("", this.signal)) {
      if (change.kind === "written" && isReached(change.row.record)) return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await Promise.all(this.#running);
  }
}

const timeOf = ({ heartbeatAt }: Rebuild) =>
  heartbeatAt === undefined ? 0 : timestampMs(heartbeatAt);

const isComplete = ({ rebuiltAt, rebuild }: Projection) =>
  rebuiltAt !== undefined && rebuild?.endedAt !== undefined;

test("a projection with a new bucket is compared with every log, once, and loses the rows without a log", async () => {
  await using stage = new Stage();
  stage.run();
  await stage.until(isComplete);
  expect(stage.compared).toEqual(["a thorough", "b thorough", "c thorough"]);
  expect(await stage.state()).toMatchObject({
    bucketInstance: "first",
    rebuild: { logs: 3n, repaired: 3n, failed: 0n },
  });
  await stage.clock.advance(hourMs);
  expect(stage.compared).toHaveLength(3);
});

test("a bucket that was deleted and created again is filled again", async () => {
  await using stage = new Stage();
  stage.run();
  await stage.until(isComplete);
  stage.instance = "second";
  await stage.clock.advance(10_000);
  await stage.until(({ bucketInstance }) => bucketInstance === "second");
  expect(stage.compared).toHaveLength(6);
});

test("a projection is compared quickly every six hours", async () => {
  await using stage = new Stage();
  stage.run();
  await stage.until(isComplete);
  await stage.clock.advance(6 * hourMs);
  await stage.until(({ rebuiltAt }) => rebuiltAt?.seconds === 22_600n);
  expect(stage.compared.slice(3)).toEqual(["a quick", "b quick", "c quick"]);
});

test("a request is fulfilled by a thorough rebuild that starts after it", async () => {
  await using stage = new Stage();
  stage.run();
  await stage.until(isComplete);
  const states: Projection[] = [];
  for await (const state of requestRebuild(stage.states, "rows", stage.signal)) {
    states.push(state);
    if (states.length === 1) await stage.clock.advance(10_000);
  }
  expect(states.at(-1)).toMatchObject({ requests: 1n, fulfilledRequests: 1n });
  expect(stage.compared.slice(3)).toEqual(["a thorough", "b thorough", "c thorough"]);
});

test("a rebuild with failures is repeated after a minute, until there are none", async () => {
  await using stage = new Stage();
  stage.failing.add("c");
  stage.run();
  await stage.until(({ rebuild }) => rebuild?.endedAt !== undefined);
  expect(await stage.state()).toMatchObject({ bucketInstance: "", rebuild: { failed: 1n } });
  stage.failing.clear();
  await stage.clock.advance(10_000);
  expect(stage.compared).toHaveLength(3);
  await stage.clock.advance(50_000);
  await stage.until(isComplete);
  expect(stage.compared).toHaveLength(6);
});

test("one of two processes performs a rebuild, and the other one takes it over when it dies", async () => {
  await using stage = new Stage();
  const heartbeatAt = timestampFromMs(stage.clock.now());
  const dead = { process: "dead", startedAt: heartbeatAt, heartbeatAt };
  const state = create(ProjectionSchema, { name: "rows", rebuild: dead });
  await stage.states.put("rows", state, stage.signal);
  stage.run("one");
  stage.run("two");
  await stage.clock.advance(20_000);
  expect(stage.compared).toEqual([]);
  await stage.clock.advance(10_000);
  await stage.until(isComplete);
  expect(stage.compared).toHaveLength(3);
});

test("a rebuild of a dead process whose clock was ahead is taken over", async () => {
  await using stage = new Stage();
  const heartbeatAt = timestampFromMs(stage.clock.now() + 7_200_000);
  const dead = { process: "dead", startedAt: heartbeatAt, heartbeatAt };
  const state = create(ProjectionSchema, { name: "rows", rebuild: dead });
  await stage.states.put("rows", state, stage.signal);
  stage.run();
  await stage.until(isComplete);
  expect(stage.compared).toHaveLength(3);
});

test("a rebuild whose logs take minutes stays with its process", async () => {
  await using stage = new Stage();
  const slow = Promise.withResolvers<void>();
  stage.slowness = slow.promise;
  stage.run("one");
  await stage.until(({ rebuild }) => rebuild?.process === "one");
  stage.run("two");
  for (let waitedMs = 0; waitedMs < 120_000; waitedMs += 5_000) {
    const beforeMs = stage.clock.now();
    await stage.clock.advance(5_000);
    await stage.until(({ rebuild }) => rebuild !== undefined && timeOf(rebuild) > beforeMs);
  }
  slow.resolve();
  await stage.until(isComplete);
  expect(stage.compared).toHaveLength(3);
  expect((await stage.state()).rebuild?.process).toBe("one");
});

test("a rebuild is requested again while the store does not answer", async () => {
  await using stage = new Stage();
  const { states } = stage;
  const get = states.get.bind(states);
  let asked = 0;
  states.get = async (...args) => {
    if (++asked === 1) throw storeUnavailable();
    return await get(...args);
  };
  for await (const state of requestRebuild(states, "rows", stage.signal)) {
    expect(state).toMatchObject({ requests: 1n });
    break;
  }
  expect(asked).toBe(2);
});

test("a log that was altered does not keep a rebuild from being complete", async () => {
  await using stage = new Stage();
  stage.altered.add("a");
  stage.run();
  await stage.until(isComplete);
  expect(stage.compared).toEqual(["a thorough", "b thorough", "c thorough"]);
  expect(await stage.state()).toMatchObject({ rebuild: { logs: 3n, failed: 0n } });
});
