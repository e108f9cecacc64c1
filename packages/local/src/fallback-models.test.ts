import { RunStatus } from "@reeve/contracts/run";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { parseScript } from "@reeve/models/scripted/script";
import { scriptedProvider } from "@reeve/models/scripted/scripted-provider";
import { expect, test } from "vitest";
import { runAgent } from "./index.ts";

/** A provider that answers no call. */
function broken(provider: ModelProvider): ModelProvider {
  return {
    ...provider,
    descriptor: { ...provider.descriptor, name: "broken" },
    // oxlint-disable-next-line require-yield
    async *stream() {
      await Promise.resolve();
      throw new ModelFailure("unavailable", "down");
    },
  };
}

test("a run continues with the model that the agent names next", async () => {
  const script = parseScript("turns: [{ text: Hello. }]", "hello.yaml");
  const provider = scriptedProvider([script]);
  const agent = {
    id: "a",
    name: "a",
    model: "broken:hello",
    fallbackModels: ["scripted:hello"],
    retry: { maxRetries: 0 },
  };
  const run = runAgent(agent, "go", {
    providers: [broken(provider), provider],
    signal: new AbortController().signal,
  });
  expect(await run.ended).toMatchObject({ status: RunStatus.COMPLETED, output: "Hello." });
});
