import { toBinary } from "@bufbuild/protobuf";
import type { ThreadEvent } from "@reeve/contracts/thread";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import { expect, test } from "vitest";
import { key, never, start, ThreadStage, withMethods } from "../../test/thread/support.ts";
import { endTurn } from "./end-turn.ts";
import { settleThread } from "./settle-thread.ts";
import type { ThreadPorts } from "./thread-ports.ts";

/** Counts what is read from the log of a thread. */
class CountedStage {
  bytes = 0;
  readonly stage = new ThreadStage();
  readonly ports: ThreadPorts;

  constructor() {
    const { threads, log, journal, dispatch } = this.stage;
    const counted = withMethods(threads, {
      read: async (...args) => this.#count(await threads.read(...args)),
      last: async (...args) => this.#count(await threads.last(...args)),
      readPart: async (...args) => this.#count(await threads.readPart(...args)),
    });
    this.ports = { threads: counted, log, journal, dispatch };
  }

  /** A gateway starts a run, a worker ends it with a long answer, and its turn ends. Returns how many bytes that read. */
  async turn(runId: string): Promise<number> {
    this.bytes = 0;
    await start(this.ports, runId);
    await this.stage.finish(
      runId,
      { case: "modelCallStarted", value: {} },
      { case: "text", value: { text: "a".repeat(20_000) } },
      { case: "modelTurn", value: {} },
    );
    await endTurn(this.ports, key, runId, never);
    return this.bytes;
  }

  #count<Range extends { readonly events: readonly ThreadEvent[] }>(range: Range): Range {
    for (const event of range.events) this.bytes += toBinary(ThreadEventSchema, event).length;
    return range;
  }
}

test("the hundredth turn of a thread reads no more than the tenth", async () => {
  const counted = new CountedStage();
  const bytes: number[] = [];
  for (let turn = 1; turn <= 100; turn++) bytes.push(await counted.turn(`run_${turn + 1_000}`));
  expect(bytes[99]).toBeLessThanOrEqual((bytes[9] ?? 0) * 1.02);
  counted.bytes = 0;
  await settleThread(counted.ports, key, never);
  expect(counted.bytes).toBeLessThan(50_000);
});
