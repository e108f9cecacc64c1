import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;
/** What two turns take, and nothing more. */
const twoCalls = { budgets: { maxLlmCalls: 2 } };

/** Calls a tool that the runtime refuses by itself, and then answers: each turn calls for the next at once. */
class Model {
  asked = 0;
  readonly provider: ModelProvider;

  constructor(onAsked: (times: number) => void) {
    const inner = countingModel(1);
    const ask = () => onAsked(++this.asked);
    this.provider = {
      descriptor: inner.descriptor,
      format: inner.format,
      async *stream(request, signal) {
        ask();
        for await (const part of inner.stream(request, signal)) {
          if (part.kind !== "turn") yield part;
          else {
            const calls = part.turn.calls.map((call) => ({ ...call, name: "no_such_tool" }));
            yield { ...part, turn: { ...part.turn, calls } };
          }
        }
      },
    };
  }
}

/** A stage that tells of each batch before it is written. */
class Told extends WorkerBench {
  onAppend: (events: readonly RunEvent[]) => void = () => undefined;

  override ports(worker: string): RunPorts {
    const { log } = this;
    return {
      ...super.ports(worker),
      log: {
        append: (...args) => {
          this.onAppend(args[2]);
          return log.append(...args);
        },
        read: (...args) => log.read(...args),
        follow: (...args) => log.follow(...args),
      },
    };
  }
}

function callsIn(events: readonly RunEvent[]): number {
  return events.filter(({ event }) => event.case === "modelCallStarted").length;
}

describe("a run that is handed over in good order is charged for no call that was not made", () => {
  test("its worker is told to end while the model speaks", async () => {
    const ending = new AbortController();
    const model = new Model(() => ending.abort());
    const stage = await new WorkerBench(model.provider).create(twoCalls);
    expect(await stage.drive("w1", 1, { now: never, drain: ending.signal })).toBe("given back");
    expect(model.asked).toBe(1);
    await stage.drive("w2", 1, undefined, 2);
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect([model.asked, callsIn(events)]).toEqual([2, 2]);
  });

  test("its worker is told to end while it writes that the model is called: it calls it", async () => {
    const ending = new AbortController();
    const model = new Model(() => undefined);
    const stage = await new Told(model.provider).create(twoCalls);
    stage.onAppend = (events) => {
      if (callsIn(events) > 0) ending.abort();
    };
    expect(await stage.drive("w1", 1, { now: never, drain: ending.signal })).toBe("given back");
    expect(model.asked).toBe(1);
    await stage.drive("w2", 1, undefined, 2);
    const events = await stage.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect([model.asked, callsIn(events)]).toEqual([2, 2]);
  });

  test("its worker is told to end while the model gives its last answer: the run ends there", async () => {
    const ending = new AbortController();
    const model = new Model((times) => times === 2 && ending.abort());
    const stage = await new WorkerBench(model.provider).create(twoCalls);
    expect(await stage.drive("w1", 1, { now: never, drain: ending.signal })).toBe("acknowledged");
    expectWhole(await stage.events(), RunStatus.COMPLETED);
  });
});
