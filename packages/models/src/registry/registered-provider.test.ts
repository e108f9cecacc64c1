import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openProviders } from "./provider-registry.ts";

const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "reeve-providers-"));
/** The paths and keys of the requests that the server got. */
const requests: string[] = [];
const server = createServer((request, response) => {
  requests.push(`${request.url} ${request.headers.authorization ?? ""}`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const choice = { index: 0, delta: { content: "hi" }, finish_reason: "stop" };
  response.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function open(text: string, environment: Readonly<Record<string, string>> = {}) {
  const file = join(folder, "models.yaml");
  writeFileSync(file, text);
  return await openProviders({ REEVE_MODELS: file, environment }, never);
}

// Requirement: CFG-18
test("several compatible servers have their own addresses and keys", async () => {
  writeFileSync(join(folder, "key"), "from-file\n");
  const { byName, catalog } = await open(
    `providers:
  - { name: one, base_url: "${base()}/one", api_key: "\${ONE_KEY}" }
  - { name: two, base_url: "${base()}/two", api_key_file: ${join(folder, "key")} }
  - { name: claude, api: anthropic, base_url: "${base()}", api_key: "\${ONE_KEY}" }
models:
  - { id: fast, provider: two, upstream_name: m }
`,
    { ONE_KEY: "from-environment" },
  );
  expect([...byName.keys()]).toEqual(["one", "two", "claude"]);
  expect(catalog.providers.map(({ name, priceList }) => [name, priceList])).toEqual([
    ["one", ""],
    ["two", ""],
    ["claude", ""],
  ]);
  expect(
    JSON.stringify(catalog, (_, value) => (typeof value === "bigint" ? 0 : value)),
  ).not.toMatch(/from-/);
  for (const name of ["one", "two"]) {
    const model = create(ModelSpecSchema, { id: "m", provider: name, upstreamName: "m" });
    const request = { model, system: "", messages: [{ role: "user", text: "x" }], tools: [] };
    const stream = byName.get(name)?.stream(request as never, never) ?? [];
    await Array.fromAsync(stream as AsyncIterable<unknown>);
  }
  expect(requests).toEqual([
    "/one/chat/completions Bearer from-environment",
    "/two/chat/completions Bearer from-file",
  ]);
});

test("no server gets the account and headers of the environment", async () => {
  const variables = {
    OPENAI_ORG_ID: "org-1",
    OPENAI_PROJECT_ID: "proj-1",
    OPENAI_CUSTOM_HEADERS: "X-Secret: one\nAuthorization: Bearer other",
    ANTHROPIC_AUTH_TOKEN: "token",
    ANTHROPIC_CUSTOM_HEADERS: "X-Secret: two\nX-Api-Key: other",
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const apis = ["chat", "responses", "anthropic"];
  const { byName } = await open(
    `providers:\n${apis.map((api) => `  - { name: my-${api}, api: ${api}, base_url: "${base()}", api_key: "\${K}" }\n`).join("")}`,
    { K: "own" },
  );
  vi.unstubAllEnvs();
  const received: IncomingHttpHeaders[] = [];
  server.on("request", ({ headers }) => received.push(headers));
  for (const [name, provider] of byName) {
    const model = create(ModelSpecSchema, { id: "m", provider: name, upstreamName: "m" });
    const request = { model, system: "", messages: [{ role: "user", text: "x" }], tools: [] };
    const stream = provider.stream(request as never, never) as AsyncIterable<unknown>;
    // The answer of the server is one of chat completions.
    await Array.fromAsync(stream).catch(() => []);
  }
  expect(received).toHaveLength(apis.length);
  for (const headers of received) {
    expect(headers["x-api-key"] ?? headers.authorization).toMatch(/^(?:Bearer )?own$/);
    expect(JSON.stringify(headers)).not.toMatch(/x-secret|org-1|proj-1|other|token"/i);
  }
});

test.each([
  ["a name of the settings", "name: openai, base_url: http://x", "must not be openai"],
  ["no URL", "name: a, base_url: x", "base_url (line 1): must be an http or https URL"],
  ["credentials in its URL", "name: a, base_url: http://u:p@x", "must not contain credentials"],
  ["a key in the file", "name: a, base_url: http://x, api_key: sk-1", "must be ${NAME}"],
  [
    "a missing key",
    'name: a, base_url: http://x, api_key: "${GONE}"',
    "the environment has no GONE",
  ],
  ["a missing file", "name: a, base_url: http://x, api_key_file: /gone", "/gone cannot be read"],
  ["a field that does not exist", "name: a, base_url: http://x, key: k", "Unrecognized key"],
])("a provider with %s is refused", async (_, entry, problem) => {
  await expect(open(`providers: [{ ${entry} }]\n`)).rejects.toMatchObject({
    kind: "invalid",
    message: expect.stringContaining(problem),
  });
});

test("two providers with one name are refused", async () => {
  const twice = "{ name: a, base_url: http://x }, { name: a, base_url: http://y }";
  await expect(open(`providers: [${twice}]\n`)).rejects.toThrow(
    "a is also the name of another provider",
  );
});
