import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApplyModelRegistryRequest } from "@reeve/contracts/agent";
import { AgentService, ModelService } from "@reeve/contracts/agent";
import { serve } from "@reeve/platform/rpc/server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, onTestFinished, test } from "vitest";
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

const file = `
providers: [{ name: lab, base_url: "https://models.example.org/v1", secret: lab }]
models: [{ id: deep, provider: lab, capabilities: { temperature: false } }]
`;

test("a file is checked first, and stored at the revision at which it was checked", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-models-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "stored.yaml");
  writeFileSync(path, file);
  const requests: ApplyModelRegistryRequest[] = [];
  const { signal } = new AbortController();
  const changes = [
    { kind: "provider", id: "lab", action: "create" },
    { kind: "model", id: "old", action: "delete" },
  ];
  const handlers = {
    applyModelRegistry: (request: ApplyModelRegistryRequest) => {
      requests.push(request);
      return { changes, registry: { revision: 8n } };
    },
  };
  const log = createLogger("test", "silent");
  await using server = await serve(
    (router) => void router.service(ModelService, handlers),
    { host: "127.0.0.1", port: 0, services: [ModelService], log },
    signal,
  );
  const apply = async (...options: readonly string[]) => {
    const terminal = new MemoryTerminal();
    const words = ["--url", server.url, "models", "apply", "-f", path, ...options];
    const code = await runCli(words, { terminal, environment: {}, signal });
    return { code, stdout: terminal.stdout, stderr: terminal.stderr };
  };
  const planned = "+ create provider lab\n- delete model old\n";
  expect(await apply("--prune", "--dry-run", "--exit-code")).toMatchObject({
    code: 6,
    stdout: planned,
  });
  expect((await apply("--prune")).stderr).toContain("add --yes");
  expect(requests.every(({ validateOnly }) => validateOnly)).toBe(true);
  expect((await apply("--prune", "--yes")).stdout).toBe(`${planned}stored (revision 8)\n`);
  expect(requests.at(-1)).toMatchObject({
    revision: 7n,
    prune: true,
    validateOnly: false,
    providers: [{ providerId: "lab", api: "chat", secret: "lab" }],
    models: [
      { id: "deep", upstreamName: "deep", capabilities: { tools: true, temperature: false } },
    ],
  });
});
