import { expect, test } from "vitest";
import { keepTurns } from "./keep-turns.ts";

const none = new Map<string, number>();

test("the newest 20 turns stay as they were shown", () => {
  const watched = Array.from({ length: 20 }, (_, index) => `run_${index}`);
  const kept = keepTurns(watched, "run_20", none);
  expect(kept).toHaveLength(20);
  expect([kept.at(0), kept.at(-1)]).toEqual(["run_1", "run_20"]);
  expect(keepTurns(["run_1", "run_2"], "run_1", none)).toEqual(["run_2", "run_1"]);
});

test("turns with very many events do not stay when another one begins", () => {
  const eventsOf = new Map([
    ["run_1", 10],
    ["run_2", 60_000],
    ["run_3", 10],
  ]);
  expect(keepTurns(["run_1", "run_2", "run_3"], "run_4", eventsOf)).toEqual(["run_3", "run_4"]);
});
