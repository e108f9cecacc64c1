import { expect, test } from "vitest";
import { paintingAgent } from "../../../test/support/media-model.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { committedUsd } from "../budget/reserve-cost.ts";
import { nextEffects } from "../next-effects.ts";
import { applyAll } from "../state/apply.ts";
import { initialState } from "../state/run-state.ts";
import { waitingFact } from "./media-facts.ts";

// Requirement: DUR-3
test("a generation is repeated for each lost worker, and given up after the third", () => {
  const run = new PlayedRun(paintingAgent);
  expect(nextEffects(run.state)).toMatchObject([{ kind: "generate_media", media: "image" }]);
  run.claimedAnew().claimedAnew();
  expect(run.all("mediaCallStarted").map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  run.claimedAnew();
  expect(run.all("mediaCallStarted")).toHaveLength(3);
  expect(run.lastResult).toContain("the workers of 3 attempts were lost");
  expect(run.end).toBe("error");
  expect(applyAll(initialState, run.events)).toEqual(run.state);
});

// Requirement: TURN-4
test("a lost generation counts with its maximum cost", () => {
  const run = new PlayedRun(paintingAgent);
  expect(run.all("mediaCallStarted").at(-1)?.reservedUsd).toBe(0.04);
  expect(committedUsd(run.state)).toBeCloseTo(0.04);
  run.claimedAnew();
  expect(committedUsd(run.state)).toBeCloseTo(0.08);
});

// Requirement: TURN-4
test("a generation that was lost while it waited for memory was not requested, and counts with nothing", () => {
  const run = new PlayedRun(paintingAgent);
  const [effect] = nextEffects(run.state);
  if (effect?.kind !== "generate_media") throw new Error("the run generates nothing");
  run.append([waitingFact(effect, run.state.media[0]?.image, true)]);
  expect(nextEffects(run.state).map(({ id }) => id)).toEqual([effect.id]);
  expect(committedUsd(run.state)).toBeCloseTo(0.04);
  run.claimedAnew();
  expect(committedUsd(run.state)).toBeCloseTo(0.04);
  expect(applyAll(initialState, run.events)).toEqual(run.state);
});

// Requirement: DUR-3
test("workers that are lost while a generation waits for memory do not make it given up", () => {
  const run = new PlayedRun(paintingAgent);
  for (let deaths = 0; deaths < 4; deaths++) {
    const [effect] = nextEffects(run.state);
    if (effect?.kind !== "generate_media") throw new Error("the run generates nothing");
    run.append([waitingFact(effect, run.state.media[0]?.image, true)]).claimedAnew();
  }
  expect(run.all("mediaCallStarted").at(-1)).toMatchObject({ attempt: 1, isWaiting: false });
  expect(nextEffects(run.state)).toMatchObject([{ kind: "generate_media" }]);
  expect(applyAll(initialState, run.events)).toEqual(run.state);
});
