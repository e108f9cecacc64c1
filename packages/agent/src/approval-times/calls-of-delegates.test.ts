import { expect, test } from "vitest";
import { parseNamePattern } from "../tools/name-pattern.ts";
import { permits, selects } from "./approval-times.ts";

const rule = (...agents: readonly string[]) => ({
  name: "rule",
  tenants: undefined,
  agents: agents.flatMap((id) => parseNamePattern(id) ?? []),
  tools: undefined,
});
const call = { tenant: "t", agentId: "a", delegateId: "c", callingDelegates: ["b"], tool: "x" };

// Requirement: HITL-1
test("rules about times hold for a call if they name any agent of its chain", () => {
  for (const id of ["a", "b", "c"]) expect(selects(rule(id), call)).toBe(true);
  expect(selects(rule("d"), call)).toBe(false);
});

test("break-glass is permitted only for all agents of the chain", () => {
  expect(permits(rule("a", "c"), call)).toBe(false);
  expect(permits(rule("a", "b", "c"), call)).toBe(true);
});
