import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { rootOf } from "../state/run-state.ts";
import { gateOf } from "./gate-call.ts";

test("the gate of a call is decided once for each state", () => {
  const pluginDescriptor = { id: "guard", version: "1", phases: [HookPhase.TOOL_GATE] };
  const plugins = [{ plugin: { pluginDescriptor, digest: "d", origin: "package" } }];
  const { state } = new PlayedRun({}, { plugins }).turn({ name: "search" });
  const frame = rootOf(state);
  const [call] = frame.calls;
  if (call === undefined) throw new Error("there is no call");
  expect(gateOf(state, frame, call)).toEqual({ kind: "hooks" });
  expect(gateOf(state, frame, call)).toBe(gateOf(state, frame, call));
  const other = { ...state, plugins: undefined };
  expect(gateOf(other, frame, call)).toBeUndefined();
});
