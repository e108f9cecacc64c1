import { describe, expect, test } from "vitest";
import type { FilteredCall } from "./decision-filter.ts";
import { filterApplies, filterProblem } from "./decision-filter.ts";

const call: FilteredCall = {
  tool: "pay",
  arguments: { amount: 2_000, to: ["bob"] },
  agent: { id: "buyer", revision: 3 },
  requester: { subject: "ann", roles: ["runner"] },
  channel: "thread",
};

describe("a filter", () => {
  test.each([
    ['tool == "pay" && arguments.amount > 1000', true],
    ['"operator" in requester.roles', false],
    ['arguments.to.exists(name, name == "bob") && channel == "thread"', true],
    ['agent.id == "buyer" && agent.revision == 3', true],
    ["", true],
  ])("selects calls: %s", (filter, applies) => {
    expect(filterApplies(filter, call)).toBe(applies);
  });

  test.each(["arguments.missing > 1", "arguments.amount", "1 / 0 == 1", "tool ==", "unknown"])(
    "that fails, or is no boolean, selects no call: %s",
    (filter) => {
      expect(filterApplies(filter, call)).toBe(false);
    },
  );

  test("selects no call whose arguments are too large to search", () => {
    const many = { list: Array.from({ length: 3_000 }, () => 1) };
    expect(filterApplies("true", { ...call, arguments: many })).toBe(false);
  });

  test.each([
    ["tool ==", "is not an expression"],
    ["secret == 1", "has the unknown name secret"],
    ["[1].exists(a, [2].exists(b, a == b))", "within the search of another"],
    ["(".repeat(600) + "1" + ")".repeat(600), "is not an expression"],
  ])("that cannot be used has a problem: %s", (filter, problem) => {
    expect(filterProblem(filter)).toContain(problem);
  });
});
