import { AgentService } from "@reeve/contracts/agent";
import { serve } from "@reeve/platform/rpc/server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

const pricing = { inputUsdPerMillion: 0.75, outputUsdPerMillion: 4.5 };
const fast = {
  id: "fast",
  provider: "openai",
  upstreamName: "gpt-5.4-mini",
  contextWindow: 400_000,
  pricing,
};

/** Returns what the command prints with a server that has these models and providers. */
async function printed(answer: object, ...args: readonly string[]) {
  const { signal } = new AbortController();
  await using server = await serve(
    (router) => void router.service(AgentService, { listModels: () => answer }),
    {
      host: "127.0.0.1",
      port: 0,
      services: [AgentService],
      log: createLogger("test", "silent"),
    },
    signal,
  );
  const terminal = new MemoryTerminal();
  const words = ["--url", server.url, "models", ...args];
  expect(await runCli(words, { terminal, environment: {}, signal })).toBe(0);
  return terminal;
}

test("models are listed with their prices, and the providers of others are named", async () => {
  const providers = [{ name: "anthropic" }, { name: "openai" }];
  const { stdout, stderr } = await printed({ models: [fast], providers });
  expect(stdout.split("\n")[1]?.split(/\s{2,}/)).toEqual([
    "fast",
    "openai",
    "gpt-5.4-mini",
    "400,000",
    "$0.75/M",
    "$4.5/M",
    "the registry",
  ]);
  expect(stderr).toContain("provider:model; the providers: anthropic, openai");
  const { stdout: json } = await printed({ models: [fast], providers }, "--json");
  expect(JSON.parse(json)).toMatchObject({ models: [{ id: "fast" }] });
});

test("a built-in price is listed with its source and date, and a missing price is named", async () => {
  const longRequests = [{ aboveInputTokens: 200_000, inputUsdPerMillion: 2 }];
  const listed = { ...pricing, source: "prices 1.2.3", asOf: "2026-01-02", longRequests };
  const models = [
    { ...fast, pricing: listed },
    { id: "own", provider: "openai", upstreamName: "own" },
  ];
  const providers = [{ name: "openai", priceList: "openai" }];
  const { stdout, stderr } = await printed({ models, providers });
  expect(stdout).toMatch(/\$0\.75\/M\*\s+\$4\.5\/M\*\s+prices 1\.2\.3, 2026-01-02\n/);
  expect(stdout).toMatch(/own\s+openai\s+own\s+no price\n/);
  expect(stderr).toContain("* long requests have other prices");
  expect(stderr).toContain("well-known models of openai have built-in list prices");
});

test("without a provider, the settings that add one are named", async () => {
  expect((await printed({})).stderr).toContain("set OPENAI_API_KEY");
});
