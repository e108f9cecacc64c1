import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import type { ModelProvider } from "../ports/model-provider.ts";
import type { RunPorts } from "../ports/run-ports.ts";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, WorkerBench } from "../../test/support/worker-bench.ts";

const never = new AbortController().signal;
/** A budget for exactly two turns. */
const twoCalls = { budgets: { maxLlmCalls: 2 } };

/** Calls a tool that the runtime refuses by itself, and then answers, so that each turn is followed by the next at once. */
class Model {
  calls = 0;
  readonly provider: ModelProvider;

  constructor(onCall: (count: number) => void) {
    const inner = countingModel(1);
    const call = () => onCall(++this.calls);
    this.provider = {
      descriptor: inner.descriptor,
      format: inner.format,
      async *stream(request, signal) {
        call();
        for await (const part of inner.stream(request, signal)) {
          if (part.kind !== "turn") yield part;
          else {
            const calls = part.turn.calls.map((toolCall) => ({
              ...toolCall,
              name: "no_such_tool",
            }));
            yield { ...part, turn: { ...part.turn, calls } };
          }
        }
      },
    };
  }
}

/** A bench that reports each batch before its append. */
class ReportingBench extends WorkerBench {
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

describe("a run that is handed over is charged for no model call that was not made", () => {
  test("when its worker drains during the answer of a model", async () => {
    const ending = new AbortController();
    const model = new Model(() => ending.abort());
    const bench = await new WorkerBench(model.provider).create(twoCalls);
    expect(await bench.drive("w1", 1, { now: never, drain: ending.signal })).toBe("given back");
    expect(model.calls).toBe(1);
    await bench.drive("w2", 1, undefined, 2);
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect([model.calls, callsIn(events)]).toEqual([2, 2]);
  });

  test("when its worker drains while it appends the model call, which is then made", async () => {
    const ending = new AbortController();
    const model = new Model(() => undefined);
    const bench = await new ReportingBench(model.provider).create(twoCalls);
    bench.onAppend = (events) => {
      if (callsIn(events) > 0) ending.abort();
    };
    expect(await bench.drive("w1", 1, { now: never, drain: ending.signal })).toBe("given back");
    expect(model.calls).toBe(1);
    await bench.drive("w2", 1, undefined, 2);
    const events = await bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect([model.calls, callsIn(events)]).toEqual([2, 2]);
  });

  test("when its worker drains during the last answer, which ends the run", async () => {
    const ending = new AbortController();
    const model = new Model((count) => count === 2 && ending.abort());
    const bench = await new WorkerBench(model.provider).create(twoCalls);
    expect(await bench.drive("w1", 1, { now: never, drain: ending.signal })).toBe("acknowledged");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
  });
});
