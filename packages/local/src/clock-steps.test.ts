import { create } from "@bufbuild/protobuf";
import { ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { RunStatus } from "@reeve/contracts/run";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runAgent } from "./run-agent.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], shouldAdvanceTime: true }));
afterEach(() => void vi.useRealTimers());

/** A model whose machine sets its clock by `stepMs` while it is asked, and that then calls a tool before it answers. */
function settingTheClock(stepMs: number): ModelProvider {
  return {
    descriptor: create(ProviderDescriptorSchema, { name: "test" }),
    format: "test",
    async *stream({ messages }) {
      const isFirst = !messages.some(({ role }) => role === "verbatim");
      if (isFirst) vi.setSystemTime(Date.now() + stepMs);
      const call = { providerCallId: "1", name: "list_todos", argumentsText: "{}" };
      const calls = isFirst ? [call] : [];
      const turn = { messageJson: "{}", finishReason: "stop", calls, usage: undefined, model: "x" };
      yield { kind: "turn", turn };
    },
  };
}

test.each([3_600_000, -3_600_000])(
  "a clock that is set by %i ms does not use up the wall-clock budget of a run",
  async (stepMs) => {
    const { signal } = new AbortController();
    const providers = [settingTheClock(stepMs)];
    const agent = { id: "a", name: "a", model: "test:x" };
    const { status, error } = await runAgent(agent, "go", { providers, signal }).ended;
    expect({ status, error }).toEqual({ status: RunStatus.COMPLETED, error: undefined });
  },
);
