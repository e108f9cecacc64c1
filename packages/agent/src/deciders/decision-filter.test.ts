import { describe, expect, test } from "vitest";
import type { FilteredCall } from "./decision-filter.ts";
import { WorkBudget } from "../schema/work-budget.ts";
import { applyingFilters, filterApplies } from "./decision-filter.ts";
import { filterProblem } from "./filter-problem.ts";

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
    ['tool.matches("^p.y$") && !tool.matches("b")', true],
    ["arguments.to.map(name, size(name)) == [3]", true],
    ['arguments.to.filter(name, name != "bob").size() == 0', true],
    ["arguments.to.exists_one(name, name.startsWith('b'))", true],
    ['has(arguments.amount) && !has(arguments.note) && arguments["amount"] > 1', true],
    ['channel in ["thread", "plain"] ? requester.roles[0] == "runner" : false', true],
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
    ["tool ==", "is not an expression: an operand is missing at its end"],
    ["tool in ", "is not an expression: an operand is missing at its end"],
    ['tool == "a <', "is not an expression: <input>"],
    ["secret == 1", "has the unknown name secret"],
    ["[1].exists(a, [2].exists(b, a == b))", "within the search of another"],
    ['arguments.to.all(a, a.matches("b+"))', "matches within the search of a list"],
    ["tool.matches(arguments.pattern)", "a pattern that is not a text in quotes"],
    ['tool.matches("(a)\\\\1")', "is not a regular expression"],
    ["(".repeat(600) + "true" + ")".repeat(600), "more than 100 brackets within each other"],
  ])("that cannot be used has a problem: %s", (filter, problem) => {
    expect(filterProblem(filter)).toContain(problem);
  });

  describe("with a budget of work", () => {
    const many = { ...call, arguments: { list: Array.from({ length: 1_900 }, (_, at) => at) } };
    const heavy = "arguments.list.all(a, arguments.list == arguments.list)";

    test("spends it for each element that it searches, and each value that it compares", () => {
      const work = new WorkBudget(10_000);
      expect(filterApplies("arguments.list.all(a, a >= 0.0)", many, work)).toBe(false);
      expect(work.isExceeded).toBe(true);
      const enough = new WorkBudget(100_000);
      expect(filterApplies("arguments.list.all(a, a >= 0.0)", many, enough)).toBe(true);
    });

    test("pays for each copy of a list that a search builds", () => {
      const list = Array.from({ length: 300 }, (_, at) => at);
      const filter = "arguments.list.map(a, a).size() == 300";
      const few = { ...call, arguments: { list } };
      expect(filterApplies(filter, few, new WorkBudget(70_000))).toBe(false);
      expect(filterApplies(filter, few, new WorkBudget(200_000))).toBe(true);
    });

    test("pays for the keys of a map", () => {
      const filter = '{(arguments.list == arguments.list ? "a" : "b"): 1}.size() == 1';
      expect(filterApplies(filter, many, new WorkBudget(1_000))).toBe(false);
      expect(filterApplies(filter, many, new WorkBudget(10_000))).toBe(true);
    });

    test("selects no call once it is used up, even where the rest of the expression is true", () => {
      const work = new WorkBudget(100_000);
      expect(filterApplies(`${heavy} || true`, many, work)).toBe(false);
      expect(filterApplies("arguments.list.size() == 0 || true", many, work)).toBe(false);
    });

    test("shares it with the other filters of the call", () => {
      const filters = ["", 'tool == "pay"', heavy, 'tool == "pay"', ""];
      expect(applyingFilters(filters, many)).toEqual([true, true, false, false, true]);
    });

    test("pays for a match by the size of the text and of the pattern", () => {
      const long = { ...call, arguments: { text: "a".repeat(60_000) } };
      const match = 'arguments.text.matches("(a?){30}b")';
      expect(filterApplies(`!${match}`, long, new WorkBudget(60_000 * 30))).toBe(false);
      expect(filterApplies(`!${match}`, long, new WorkBudget(60_000 * 300))).toBe(true);
    });
  });
});
