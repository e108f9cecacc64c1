import { create } from "@bufbuild/protobuf";
import { retryPolicyFor } from "@reeve/agent/spec/retry-policy";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { describe, expect, test } from "vitest";
import { PlayedRun, subtask } from "../../test/support/run-player.ts";
import { modelOf } from "./model/model-of.ts";
import { initialState } from "./state/run-state.ts";
import { applyAll } from "./state/apply.ts";

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
    expect(run.state.head.error?.message).toContain("model third gave no answer after 2 attempts");
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
