import { create } from "@bufbuild/protobuf";
import { GuardAction, GuardTarget, PluginHookFinishedSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { hookNote } from "./hook-note.ts";

test("a note says what each guard did that did not pass", () => {
  const passed = { guard: "a", target: GuardTarget.INPUT, action: GuardAction.PASS };
  const stopped = { ...passed, guard: "b", action: GuardAction.STOP, reason: "a card" };
  const hook = create(PluginHookFinishedSchema, { guards: [passed, stopped] });
  expect(hookNote(hook)).toEqual({
    tone: "bad",
    text: "The guard b stopped the run because of the input",
    detail: "b: a card",
  });
  expect(hookNote(create(PluginHookFinishedSchema, { guards: [passed] }))).toBeUndefined();
});

test("a note says that a plugin failed", () => {
  const hook = create(PluginHookFinishedSchema, { pluginId: "p", error: "it is away" });
  expect(hookNote(hook)).toEqual({
    tone: "bad",
    text: "The plugin p failed",
    detail: "it is away",
  });
});
