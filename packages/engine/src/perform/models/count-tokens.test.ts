import { expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { nextEffects } from "../../domain/next-effects.ts";
import type { ModelProvider } from "../../ports/model-provider.ts";
import { ModelFailure } from "../../ports/model-provider.ts";
import type { RunPorts } from "../../ports/run-ports.ts";
import { countTokens } from "./count-tokens.ts";

const { signal } = new AbortController();

/** Returns the fact of a count by a provider with this method. */
async function factOf(counting: ModelProvider["countTokens"]) {
  const capabilities = { tools: true, countsTokens: true };
  const run = new PlayedRun(
    { budgetAwareness: "limit:60" },
    {
      created: { input: "word ".repeat(2_000) },
      prepared: { model: { id: "m", contextWindow: 4_000 }, capabilities },
    },
  );
  const [effect] = nextEffects(run.state);
  if (effect?.kind !== "count_tokens") throw new Error("nothing is to be counted");
  const parts = {
    provider: () => ({ countTokens: counting }),
    policy: () => undefined,
    catalogs: () => ({ models: { models: [] } }),
  };
  const ports = parts as unknown as RunPorts;
  const facts = (await Array.fromAsync(countTokens(run.state, effect, ports, signal))).flat();
  return facts.map(({ event }) => event);
}

test("a count by the provider is a fact, of the request that would be sent", async () => {
  const facts = await factOf(({ messages }) => Promise.resolve(messages.length * 1_000));
  expect(facts).toMatchObject([{ case: "tokensCounted", value: { inputTokens: 1_000 } }]);
});

function isDown() {
  return Promise.reject(new ModelFailure("unavailable", "it is down"));
}

test("a provider that fails, or cannot count, leaves the decision to the runtime's bound", async () => {
  expect(await factOf(isDown)).toMatchObject([
    { case: "tokensCounted", value: { error: "it is down" } },
  ]);
  expect(await factOf(undefined)).toMatchObject([
    { case: "tokensCounted", value: { error: "the provider does not count" } },
  ]);
});

test("a bug in a provider is not taken for a missing count", async () => {
  await expect(factOf(() => Promise.reject(new TypeError("bug")))).rejects.toThrow("bug");
});
