import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema, ProviderSpecSchema } from "@reeve/contracts/agent";
import type { ModelProvider } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { expect, test } from "vitest";
import { parseModelRegistry } from "./model-registry.ts";
import { StoredProviders } from "./stored-providers.ts";

const never = new AbortController().signal;

const file = `
stored_providers:
  origins: [https://a.example.org, https://b.example.org]
  secrets:
    key-of-a: { api_key: "\${A_KEY}", origins: [https://a.example.org] }
`;

async function opened() {
  const { storedProviders } = parseModelRegistry(file, "models.yaml");
  return await StoredProviders.open(storedProviders, { environment: { A_KEY: "k" } }, never);
}

async function failureOf({ stream }: ModelProvider): Promise<unknown> {
  const model = create(ModelSpecSchema, { upstreamName: "m" });
  const rest = { instructions: "", messages: [], tools: [], parallelToolCalls: false };
  try {
    const request = { ...rest, model, temperature: undefined, maxTokens: undefined };
    for await (const _ of stream(request, never));
    return undefined;
  } catch (error) {
    return error;
  }
}

// Requirement: CFG-18
test.each([
  [{ baseUrl: "https://c.example.org" }, "does not list its origin"],
  [{ baseUrl: "https://b.example.org", secret: "key-of-a" }, "may not be sent to its origin"],
  [{ baseUrl: "https://a.example.org", secret: "other" }, 'no secret "other"'],
  [{ baseUrl: "https://a.example.org", api: "smoke" }, 'does not speak "smoke"'],
])("calls of the provider %j fail, because it %s", async (spec, problem) => {
  const providers = await opened();
  const provider = providers.provider(create(ProviderSpecSchema, { providerId: "p", ...spec }));
  const failure = await failureOf(provider);
  expect(failure).toBeInstanceOf(ModelFailure);
  expect(failure).toMatchObject({
    reason: "not_configured",
    message: expect.stringContaining(problem),
  });
});

test("a permitted provider has a format of its own, and gateways learn of secrets by name only", async () => {
  const providers = await opened();
  const spec = { providerId: "p", baseUrl: "https://a.example.org/v1", secret: "key-of-a" };
  const provider = providers.provider(create(ProviderSpecSchema, spec));
  expect(provider).toMatchObject({ format: "openai.chat/p", descriptor: { name: "p" } });
  expect(providers.rules).toMatchObject({
    origins: ["https://a.example.org", "https://b.example.org"],
    secrets: [{ name: "key-of-a", origins: ["https://a.example.org"] }],
    apis: [{ name: "chat" }, { name: "responses" }, { name: "anthropic" }],
  });
});

/** Parses a file with one secret. */
function parsed(secret: string) {
  return parseModelRegistry(`stored_providers: { secrets: { s: ${secret} } }`, "models.yaml");
}

test("a secret without a key, without origins, or that the environment does not have is refused", async () => {
  expect(() => parsed("{ origins: [https://a.example.org] }")).toThrow("needs api_key");
  expect(() => parsed('{ api_key: "${A}", origins: [] }')).toThrow("must have an origin");
  const { storedProviders } = parsed('{ api_key: "${A}", origins: [https://a.example.org] }');
  await expect(StoredProviders.open(storedProviders, { environment: {} }, never)).rejects.toThrow(
    "secret s: the environment has no A",
  );
});
