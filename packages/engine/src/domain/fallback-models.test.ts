import { create } from "@bufbuild/protobuf";
import { retryPolicyFor } from "@reeve/agent/spec/retry-policy";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ModelCallPurpose } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { PlayedRun, subtask } from "../../test/support/run-player.ts";
import { modelOf } from "./model/model-of.ts";
import { promptTokens } from "./model/prompt-tokens.ts";
import { initialState } from "./state/run-state.ts";
import { applyAll } from "./state/apply.ts";
import { workedMs } from "./state/worked-time.ts";

const passing = { retryable: true };
const fallbacks = [
  { model: { id: "second", provider: "b" } },
  { model: { id: "third", provider: "c" } },
];

/** Starts a run with two fallback models whose calls are attempted twice. */
function runWith(spec: object = {}): PlayedRun {
  const agent = create(AgentSpecSchema, { retry: { maxRetries: 1 }, ...spec });
  return new PlayedRun(spec, {
    prepared: { retry: retryPolicyFor(agent, undefined), fallbacks },
  });
}

const modelIn = (run: PlayedRun, id?: string) => modelOf(run.state, run.frame(id))?.id;

/** The provider fails a model call and its repetition. */
function givesUp(run: PlayedRun): PlayedRun {
  return run.fails("unavailable", passing).retries().fails("unavailable", passing);
}

describe("a model that gives no answer", () => {
  // Requirement: RES-2
  test("is replaced by the next one when its attempts are used up, for the rest of the run", () => {
    const run = runWith();
    run.fails("unavailable", passing);
    expect(modelIn(run)).toBe("m");
    run.retries().fails("unavailable", passing);
    expect(modelIn(run)).toBe("second");
    expect(run.all("modelCallFailed").map(({ fallbackModel }) => fallbackModel)).toEqual([
      "",
      "second",
    ]);
    run.turn({ name: "search" }).result(0);
    expect(modelIn(run)).toBe("second");
    expect(run.turn().end).toBe("completed");
  });

  test("gives way to each further model once, and the last failure ends the run", () => {
    const run = givesUp(givesUp(runWith()));
    expect(modelIn(run)).toBe("third");
    expect(givesUp(run).end).toBe("error");
    expect(run.state.head.error?.message).toContain("model third failed after 2 attempts");
  });

  test.each(["unauthenticated", "not_configured"])(
    "is replaced at once when it is %s",
    (reason) => {
      const run = runWith();
      run.fails(reason, { retryable: reason === "not_configured" });
      expect(modelIn(run)).toBe("second");
    },
  );

  test("is not replaced because of a request that it refuses", () => {
    expect(runWith().fails("refused").end).toBe("error");
  });

  test("leaves no text: what it had streamed is voided before the next model answers", () => {
    const run = runWith({ retry: { maxRetries: 0 } }).says("I wi");
    run.fails("unavailable", passing);
    expect(run.trace.slice(-3)).toEqual([
      expect.stringContaining("modelCallFailed"),
      expect.stringContaining("textVoided"),
      expect.stringContaining("modelCallStarted"),
    ]);
    expect(run.says("I will").turn().end).toBe("completed");
    expect(run.frame().text).toBe("I will");
  });
});

const window = (contextWindow: number) => ({ id: "m", contextWindow });

describe("a model that takes over after a compaction in the same step", () => {
  const setting = {
    tools: [{ name: "search" }],
    prepared: {
      model: window(16_000),
      fallbacks: [{ model: { ...window(4_000), id: "small" } }],
      retry: retryPolicyFor(
        create(AgentSpecSchema, { retry: { maxRetries: 0 }, model: "m" }),
        undefined,
      ),
    },
  };

  test("compacts again when its window is smaller", () => {
    const run = new PlayedRun({ contextPolicy: {} }, setting);
    run.reportsUsage = false;
    while (run.frame().modelCall?.purpose === ModelCallPurpose.ANSWER) {
      run.turn({ name: "search" }).result(0, "word ".repeat(500));
    }
    run.turn();
    expect(run.frame().isCompacted).toBe(true);
    run.fails("unavailable", passing);
    expect(modelIn(run)).toBe("small");
    expect(run.frame().modelCall?.purpose).toBe(ModelCallPurpose.SUMMARY);
    run.turn();
    expect(promptTokens(run.state, run.frame())).toBeLessThan(4_000);
    expect(run.says("done").turn().end).toBe("completed");
  });
});

const limited = (spec: object = {}) => runWith({ retry: { maxRetries: 0 }, ...spec });

describe("the wall clock", () => {
  test("stands still for a silent attempt after which another model takes over", () => {
    const run = limited({ budgets: { maxWallClock: { seconds: 180n } } });
    run.nowMs += 400_000;
    run.fails("unavailable", passing);
    expect(modelIn(run)).toBe("second");
    run.nowMs += 100_000;
    expect(workedMs(run.state.worked, run.nowMs)).toBeLessThan(101_000);
    expect(run.turn().end).toBe("completed");
  });

  test("stands still for the last attempt of a subtask, which leaves the run the rest", () => {
    const run = limited().turn(subtask("a"));
    const [id = ""] = run.subtasks;
    for (const _ of [1, 2, 3]) {
      run.nowMs += 400_000;
      run.fails("unavailable", { ...passing, id });
    }
    expect(run.lastResult).toContain("failed: ");
    expect(run.turn().end).toBe("completed");
  });

  test("counts what the run has done before the attempt that failed, and after it", () => {
    const run = limited().turn({ name: "search" });
    run.nowMs += 100_000;
    run.result(0);
    run.nowMs += 400_000;
    run.fails("unavailable", passing);
    run.nowMs += 50_000;
    const worked = workedMs(run.state.worked, run.nowMs);
    expect(worked).toBeGreaterThanOrEqual(150_000);
    expect(worked).toBeLessThan(151_000);
  });
});

test("a subtask begins with the model that its parent has, and changes its own only", () => {
  const run = givesUp(runWith());
  run.turn(subtask("a"));
  const [child = ""] = run.subtasks;
  expect(modelIn(run, child)).toBe("second");
  const failing = { ...passing, id: child };
  run.fails("unavailable", failing).retries(child).fails("unavailable", failing);
  expect([modelIn(run, child), modelIn(run, "")]).toEqual(["third", "second"]);
});

test("each owner of the run finds the same model in its log", () => {
  const run = givesUp(runWith());
  for (let length = 0; length <= run.events.length; length++) {
    const state = applyAll(initialState, run.events.slice(0, length));
    const rest = applyAll(state, run.events.slice(length));
    expect(rest.frames).toEqual(run.state.frames);
  }
});
