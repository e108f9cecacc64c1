import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RegistrySettings } from "./provider-registry.ts";
import { openProviders } from "./provider-registry.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "reeve-models-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function open(settings: RegistrySettings) {
  const { byName, catalog } = await openProviders(settings, new AbortController().signal);
  const models = catalog.models.map(({ id, provider, upstreamName }) => [
    id,
    `${provider}:${upstreamName}`,
  ]);
  return { providers: [...byName.keys()], models: Object.fromEntries(models), catalog };
}

/** Returns the message format of the provider `openai`. */
async function formatOf(settings: RegistrySettings): Promise<string | undefined> {
  const signal = new AbortController().signal;
  const { byName } = await openProviders({ OPENAI_API_KEY: "k", ...settings }, signal);
  return byName.get("openai")?.format;
}

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

/** Returns a registry with a model that has these modalities. */
function reading(modalities: string): Promise<string> {
  return file("m.yaml", `models: [{ id: m, provider: openai, modalities: [${modalities}] }]`);
}

test("the settings for retries are announced as the defaults of all agents", async () => {
  const { catalog } = await open({ REEVE_MODEL_RETRY_MAX: 3, REEVE_MODEL_RETRY_LONGEST_MS: 9_000 });
  expect(catalog.retry).toMatchObject({ maxRetries: 3, maxBackoff: { seconds: 9n } });
  expect(catalog.retry?.maxElapsed).toBeUndefined();
});

describe("the providers of a deployment", () => {
  test("are none without a key and without scripts", async () => {
    expect(await open({})).toMatchObject({ providers: [], models: {} });
  });

  test("have a default model of OpenAI with its key", async () => {
    expect((await open({ OPENAI_API_KEY: "k" })).models).toEqual({
      default: "openai:gpt-5.4-mini",
    });
    const named = await open({ OPENAI_API_KEY: "k", OPENAI_MODEL: "qwen3" });
    expect(named).toMatchObject({ providers: ["openai"], models: { default: "openai:qwen3" } });
  });

  test("call OpenAI over the Responses API and other servers over chat completions, unless configured otherwise", async () => {
    const other = { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
    expect(await formatOf({})).toBe("openai.responses");
    expect(await formatOf(other)).toBe("openai.chat");
    expect(await formatOf({ OPENAI_API: "chat" })).toBe("openai.chat");
    expect(await formatOf({ ...other, OPENAI_API: "responses" })).toBe("openai.responses");
  });

  test("have a default model of Anthropic with its key, unless there is one of OpenAI", async () => {
    const keys = { ANTHROPIC_API_KEY: "k", ANTHROPIC_MODEL: "claude-x" };
    expect(await open(keys)).toMatchObject({
      providers: ["anthropic"],
      models: { default: "anthropic:claude-x" },
    });
    expect((await open({ ANTHROPIC_API_KEY: "k" })).models).toEqual({
      default: "anthropic:claude-haiku-5-5",
    });
    expect(await open({ ...keys, OPENAI_API_KEY: "k" })).toMatchObject({
      providers: ["openai", "anthropic"],
      models: { default: "openai:gpt-5.4-mini" },
    });
  });

  test("use the only script by default, or the one with that name", async () => {
    await file("weather.yaml", "turns: [{ text: sunny }]");
    expect(await open({ REEVE_SCRIPTS: folder })).toMatchObject({
      providers: ["scripted"],
      models: { default: "scripted:weather" },
    });
    await file("other.yaml", "turns: [{ text: other }]");
    const { catalog, models } = await open({ REEVE_SCRIPTS: folder });
    expect(models).toEqual({});
    expect(catalog.providers[0]).toMatchObject({
      scripted: true,
      upstreamNames: ["other", "weather"],
    });
    await file("x.yaml", "name: default\nturns: [{ text: default }]");
    expect((await open({ REEVE_SCRIPTS: folder })).models).toEqual({ default: "scripted:default" });
  });

  test("include what each model of the registry reads, and refuse what no model reads", async () => {
    const { catalog } = await open({ REEVE_MODELS: await reading("text, image, pdf") });
    expect(catalog.models).toMatchObject([{ modalities: ["text", "image", "pdf"] }]);
    await expect(open({ REEVE_MODELS: await reading("text, smell") })).rejects.toMatchObject({
      violations: [{ field: expect.stringContaining("models[0].modalities[1]") }],
    });
  });

  test("include the models of the registry, whose properties also apply to the default", async () => {
    const models = await file(
      "models.yaml",
      `
models:
  - id: fast
    provider: openai
    upstream_name: m-1
    context_window: 1000
    pricing:
      input_usd_per_million: 1
      output_usd_per_million: 2
      long_requests:
        - { above_input_tokens: 900, input_usd_per_million: 5, output_usd_per_million: 6 }
        - { above_input_tokens: 500, input_usd_per_million: 3, output_usd_per_million: 4 }
    capabilities: { parallel_tool_calls: false }
`,
    );
    const { catalog } = await open({
      REEVE_MODELS: models,
      OPENAI_API_KEY: "k",
      OPENAI_MODEL: "m-1",
    });
    expect(catalog.models).toMatchObject([
      { id: "fast", upstreamName: "m-1", contextWindow: 1000 },
      {
        id: "default",
        upstreamName: "m-1",
        contextWindow: 1000,
        pricing: {
          inputUsdPerMillion: 1,
          longRequests: [{ aboveInputTokens: 500 }, { aboveInputTokens: 900 }],
        },
        capabilities: { tools: true, parallelToolCalls: false, reasoning: true },
      },
    ]);
  });

  test("have the list prices of OpenAI and Anthropic at their own addresses, unless the registry has prices", async () => {
    const models = await file(
      "models.yaml",
      `
models:
  - { id: known, provider: openai, upstream_name: gpt-4.1 }
  - id: own
    provider: openai
    upstream_name: gpt-4o
    pricing: { input_usd_per_million: 1, output_usd_per_million: 2 }
`,
    );
    const keys = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", REEVE_MODELS: models };
    const priced = async (settings: RegistrySettings) => {
      const { catalog } = await open({ ...keys, ...settings });
      return {
        prices: catalog.models.map(({ id, pricing }) => [id, pricing?.inputUsdPerMillion]),
        lists: catalog.providers.map(({ priceList }) => priceList),
      };
    };
    expect(await priced({})).toEqual({
      prices: [
        ["known", 2],
        ["own", 1],
        ["default", 0.75],
      ],
      lists: ["openai", "anthropic"],
    });
    const elsewhere = {
      OPENAI_BASE_URL: "https://eu.api.openai.com/v1",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
    };
    expect(await priced(elsewhere)).toEqual({
      prices: [
        ["known", undefined],
        ["own", 1],
        ["default", undefined],
      ],
      lists: ["", ""],
    });
  });

  test("use the default of the registry if it has one", async () => {
    const models = await file(
      "models.yaml",
      "models: [{ id: default, provider: openai, upstream_name: x }]",
    );
    expect((await open({ REEVE_MODELS: models, OPENAI_API_KEY: "k" })).models).toEqual({
      default: "openai:x",
    });
  });

  test("include the limits that no agent may exceed", async () => {
    const limits = await file("limits.yaml", "{ max_rounds: 50, budgets: { max_cost_usd: 5 } }");
    const { catalog } = await open({ OPENAI_API_KEY: "k", REEVE_LIMITS: limits });
    expect(catalog.maxima).toMatchObject({ maxRounds: 50, budgets: { maxCostUsd: 5 } });
    const wrong = await file("wrong.yaml", "{ max_rounds: many, max_steps: 3 }");
    await expect(open({ REEVE_LIMITS: wrong })).rejects.toThrow(/max_rounds.*max_steps/);
  });

  test("are refused with every problem of the registry", async () => {
    const models = await file(
      "models.yaml",
      `
models:
  - { id: a, provider: openai }
  - { id: a, provider: openai }
  - { id: b, context_window: -1 }
`,
    );
    await expect(open({ REEVE_MODELS: models })).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(/models\[2\]\.provider.*\n.*models\[2\]\.context_window/),
    });
    const twins = await file(
      "twins.yaml",
      "models: [{ id: a, provider: x }, { id: a, provider: x }]",
    );
    await expect(open({ REEVE_MODELS: twins })).rejects.toThrow(
      /a is also the id of another model/,
    );
  });

  test("are refused with the problems of all scripts at once", async () => {
    await file("a.yaml", "turns: []");
    await file("b.yaml", "name: c\nturns: [{ text: 1 }]");
    await file("c.yaml", "turns: [{ text: c }]");
    await file("d.yaml", "name: c\nturns: [{ text: c }]");
    await expect(open({ REEVE_SCRIPTS: folder })).rejects.toMatchObject({
      kind: "invalid",
      violations: [
        { field: expect.stringContaining("a.yaml: turns") },
        { field: expect.stringContaining("b.yaml: turns[0].text") },
        {
          field: expect.stringContaining("d.yaml: name"),
          description: expect.stringMatching(/c\.yaml/),
        },
      ],
    });
  });

  test("are refused with the name of the setting when a path does not exist", async () => {
    await expect(open({ REEVE_SCRIPTS: join(folder, "none") })).rejects.toThrow(
      /^REEVE_SCRIPTS names .*none, which cannot be read/,
    );
  });
});

// Requirement: RES-12
test("what is wrong with all files and keys of a deployment is reported at once", async () => {
  const models = await file(
    "models.yaml",
    `
providers:
  - { name: one, base_url: "https://one.example.org", api_key: "\${ONE_KEY}" }
  - { name: two, base_url: "https://two.example.org", api_key: "\${TWO_KEY}" }
stored_providers:
  secrets: { three: { api_key: "\${THREE_KEY}", origins: ["https://three.example.org"] } }
`,
  );
  const settings = { REEVE_MODELS: models, REEVE_LIMITS: await file("limits.yaml", "speed: 5") };
  const refused = open(settings);
  for (const problem of ["ONE_KEY", "TWO_KEY", "THREE_KEY", "limits.yaml"]) {
    await expect(refused).rejects.toThrow(problem);
  }
});
