import type { Scenario } from "./backend.ts";
import { call, inputOf, once, turnsOf } from "./played.ts";

/** Scenarios in which models stop before their answer is whole. */
export const incompleteScenarios: readonly Scenario[] = [
  { name: "truncated answer", play: () => ({ text: "Twenty-", finish: "length" }) },
  {
    name: "truncated answer that is continued",
    spec: { answerPolicy: { truncated: "continue" } },
    play: (asked) =>
      turnsOf(asked) === 0
        ? { text: "Twenty-", finish: "length" }
        : { text: `one, after: ${asked.messages.at(-1)?.text}` },
  },
  {
    name: "truncated answer that is an error",
    spec: { answerPolicy: { truncated: "error" } },
    play: () => ({ text: "Twenty-", finish: "length" }),
  },
  { name: "filtered answer", play: () => ({ text: "I would", finish: "content_filter" }) },
  {
    name: "truncated answer of a subtask",
    play: (asked) =>
      inputOf(asked).startsWith("part")
        ? { text: "A 10, B 2", finish: "length" }
        : once(call("run_subtask", { title: "a", instructions: "part a" }))(asked),
  },
];
