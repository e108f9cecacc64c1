import process from "node:process";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { treeAfter, treeOf } from "@reeve/run/tree/execution-tree";
import type { TreeChanges } from "@reeve/run/tree/execution-tree";
import type { RunEvent } from "@reeve/contracts/run";
import { RunBatchSchema } from "@reeve/contracts/run";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { applyAll } from "@reeve/engine/domain/state/apply";
import { initialState } from "@reeve/engine/domain/state/run-state";
import { PlayedRun } from "@reeve/engine/test/support/run-player";
import type { Benchmark, Figure } from "../figure.ts";
import { timesOf, warmUp } from "../measure.ts";

const times = 9;
const sizes = [1_000, 10_000];

/** Time to fold a run's log, in process. The floor is the time to decode the log, which every reader needs too. */
export const fold: Benchmark = {
  name: "fold",
  async *measure(): AsyncIterable<Figure> {
    for (const shape of [
      { name: "a tool call every 10 events", spoken: 1 },
      { name: "a tool call every 100 events", spoken: 91 },
    ]) {
      for (const size of sizes) {
        const events = logOf(size, shape.spoken);
        const stored = toBinary(RunBatchSchema, create(RunBatchSchema, { events: [...events] }));
        const floor = await measured(() => fromBinary(RunBatchSchema, stored));
        const folds = {
          "the state of a run": () => applyAll(initialState, events),
          "the head of a run": () => foldHead(emptyHead, events),
          "the execution tree": () => treeOf(events.reduce<TreeChanges>(treeAfter, undefined)),
        };
        for (const [name, work] of Object.entries(folds)) {
          yield {
            name: `${name} from ${size} events, ${shape.name}`,
            unit: "ms",
            ...(await measured(work)),
            floors: floor.values,
          };
        }
      }
    }
  },
};

async function measured(work: () => unknown) {
  await warmUp(2, work);
  const before = process.cpuUsage();
  const values = await timesOf(times, work);
  const { user, system } = process.cpuUsage(before);
  return { values, cpuMs: (user + system) / 1_000 / times };
}

/** Returns a log of `size` events: steps, each with `spoken` parts of text and a tool call. */
function logOf(size: number, spoken: number): readonly RunEvent[] {
  const budgets = { maxLlmCalls: size, maxToolCalls: size };
  const played = new PlayedRun({ maxRounds: size, budgets });
  while (played.events.length < size) {
    for (let part = 0; part < spoken; part++) played.says("a few words of an answer ");
    played.turn({ name: "search", args: { query: "reeve" } });
    played.result(0, "x".repeat(200));
  }
  return played.events.slice(0, size);
}
