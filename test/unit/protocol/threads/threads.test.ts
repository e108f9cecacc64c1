import { clone } from "@bufbuild/protobuf";
import type { ThreadHead } from "@reeve/contracts/thread";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import { describe, expect, test } from "vitest";
import { explore, walkRandomly } from "../explore.ts";
import type { ThreadBreakage, ThreadPorts } from "./thread-world.ts";
import { ThreadWorld } from "./thread-world.ts";

/** Long enough for a busy machine. */
const testTimeoutMs = 120_000;

type ThreadScenario = (breakage?: ThreadBreakage) => Promise<ThreadWorld>;

function scenario(begin: (world: ThreadWorld) => void): ThreadScenario {
  return async (breakage) => {
    const world = new ThreadWorld(breakage).begin();
    begin(world);
    return world;
  };
}

const twoTurns = scenario((world) => {
  world.starts("a");
  world.starts("b");
});
const cancelled = scenario((world) => {
  world.starts("a");
  world.starts("b");
  world.cancels("b");
});
const interrupted = scenario((world) => {
  world.starts("a");
  world.starts("b", "interrupt");
  world.starts("c", "interrupt");
});
const scenarios = [
  ["two runs", twoTurns],
  ["two runs, one of which is cancelled", cancelled],
  ["a run, and two that interrupt", interrupted],
] as const;

/** Processes that read the state of the thread as `change` leaves it. */
function reading(change: (head: ThreadHead) => void): ThreadBreakage {
  const ports = (given: ThreadPorts): ThreadPorts => ({
    ...given,
    threads: {
      ...given.threads,
      last: async (...of) => {
        const range = await given.threads.last(...of);
        const events = range.events.map((event) => clone(ThreadEventSchema, event));
        const head = events.at(-1)?.head;
        if (head !== undefined) change(head);
        return { ...range, events };
      },
    },
  });
  return { ports };
}

const seesNoActiveTurn = reading((head) => {
  head.openTurns = head.openTurns.filter(({ started }) => !started);
});
const appendsIgnoringTail: ThreadBreakage = {
  ports: (given) => ({
    ...given,
    threads: {
      ...given.threads,
      append: async (key, tail, events, signal) => {
        const { tail: now } = await given.threads.read(key, emptyTail, signal);
        return await given.threads.append(key, { ...now, sequence: tail.sequence }, events, signal);
      },
    },
  }),
};

describe("the turns of a thread keep all rules", () => {
  test.each(scenarios)(
    "in the first hundreds of orders of acts, and in random ones: %s",
    async (_, setUp) => {
      const { worlds } = await explore(() => setUp(), { faults: 0, worlds: 300 });
      expect(worlds).toBeGreaterThan(100);
      await walkRandomly(() => setUp(), { faults: 0, walks: 40, seed: 1 });
    },
    testTimeoutMs,
  );

  test.each(scenarios)(
    "in random walks with deaths, lost messages, and redeliveries: %s",
    async (_, setUp) => {
      const { worlds } = await walkRandomly(() => setUp(), { faults: 3, walks: 60, seed: 1 });
      expect(worlds).toBeGreaterThan(100);
    },
    testTimeoutMs,
  );
});

describe("the exploration finds a thread that is broken on purpose", () => {
  test.each<[string, ThreadScenario, ThreadBreakage, RegExp]>([
    ["a process does not see the turn in progress", twoTurns, seesNoActiveTurn, /starts during/],
    ["appends ignore the tail", twoTurns, appendsIgnoringTail, /starts during|never ends/],
  ])(
    "when %s",
    async (_, setUp, breakage, what) => {
      const bounds = { faults: 0, walks: 40, seed: 1 };
      await expect(walkRandomly(() => setUp(breakage), bounds)).rejects.toThrow(what);
    },
    testTimeoutMs,
  );
});
