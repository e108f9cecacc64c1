import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { GuardAction, GuardTarget, PluginHookFinishedSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { plainStyle } from "../../../test/support/memory-terminal.ts";
import { renderHook } from "./hook.ts";

const lines = (hook: MessageInitShape<typeof PluginHookFinishedSchema>) =>
  renderHook(create(PluginHookFinishedSchema, hook), plainStyle, 60);

test("a hook that changes nothing has no line", () => {
  const passed = { guard: "g", target: GuardTarget.INPUT, action: GuardAction.PASS };
  expect(lines({ pluginId: "p", answer: {} })).toEqual([]);
  expect(lines({ pluginId: "guardrails", guards: [passed] })).toEqual([]);
});

test("a line says which guard or plugin did what, and why", () => {
  const refused = {
    guard: "tone",
    target: GuardTarget.OUTPUT,
    action: GuardAction.REFUSE,
    reason: "be polite\u001b[2J",
  };
  const unchecked = { guard: "judge", action: GuardAction.PASS, problem: "it is away" };
  expect(lines({ pluginId: "guardrails", guards: [refused, unchecked] })).toEqual([
    expect.stringMatching(/^ {4}◆ guard tone refused the answer: be polite/),
    "    ◆ guard judge did not check: it is away",
  ]);
  expect(lines({ guards: [refused] }).join("")).not.toContain("\u001b");
  const answer = { verdict: { case: "deny" as const, value: { reason: "too many" } } };
  expect(lines({ pluginId: "limit", answer })).toEqual([
    "    ◆ plugin limit refused the call: too many",
  ]);
  expect(lines({ pluginId: "limit", error: "it is away" })).toEqual([
    "    ✗ plugin limit failed: it is away",
  ]);
});
