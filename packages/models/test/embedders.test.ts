import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hashedEmbedder } from "../src/embeddings/hashed-embedder.ts";
import { openEmbedder } from "../src/embeddings/open-embedder.ts";
import { parseModelRegistry, providerViolations } from "../src/registry/model-registry.ts";

const never = new AbortController().signal;
const key = "sk-a-key-of-tests";

interface Request {
  readonly authorization: string | undefined;
  readonly path: string | undefined;
  readonly body: unknown;
}

let folder: string;
const requests: Request[] = [];
/** What the server answers: a status, and a body. */
let answer: () => readonly [number, unknown] = () => [500, {}];
const server = createServer(
  (request, response) =>
    void (async () => {
      const body = await json(request);
      requests.push({ authorization: request.headers.authorization, path: request.url, body });
      const [status, value] = answer();
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof value === "string" ? value : JSON.stringify(value));
    })(),
);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "reeve-embeddings-"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(more = "") {
  requests.length = 0;
  // A server listens on a port.
  const { port } = server.address() as AddressInfo;
  const path = join(folder, "models.yaml");
  const provider = `{ name: local, base_url: "http://127.0.0.1:${port}/v1", api_key: "\${KEY}" }`;
  const embeddings = `{ provider: local, model: small, usd_per_million_tokens: 2${more} }`;
  await writeFile(path, `providers: [${provider}]\nembeddings: ${embeddings}\n`);
  const embedder = await openEmbedder({ REEVE_MODELS: path, environment: { KEY: key } }, never);
  if (embedder === undefined) throw new Error("there is no embedder");
  return embedder;
}

test("a server with the API of OpenAI embeds texts, in their order and with their cost", async () => {
  answer = () => [
    200,
    {
      data: [
        { index: 1, embedding: [0, 1] },
        { index: 0, embedding: [1, 0] },
      ],
      usage: { prompt_tokens: 500_000, total_tokens: 500_000 },
    },
  ];
  const embedder = await open(", dimensions: 2");
  expect(embedder.model).toBe("local:small");
  expect(await embedder.embed(["a", "b"], never)).toEqual({
    vectors: [
      [1, 0],
      [0, 1],
    ],
    tokens: 500_000,
    costUsd: 1,
  });
  expect(requests).toEqual([
    {
      authorization: `Bearer ${key}`,
      path: "/v1/embeddings",
      body: { model: "small", input: ["a", "b"], encoding_format: "float", dimensions: 2 },
    },
  ]);
});

test.each<[string, () => readonly [number, unknown], RegExp]>([
  [
    "refuses the key",
    () => [401, { error: { message: `bad key ${key}` } }],
    /does not embed now \(unauthenticated\)/,
  ],
  ["answers with no list of vectors", () => [200, { data: "x" }], /something else than vectors/],
  ["answers with no JSON", () => [200, "<html>"], /something else than vectors/],
])(
  "a server that %s is a failure without the key, and is then left alone",
  async (_, given, problem) => {
    answer = given;
    const embedder = await open();
    const refused = await embedder.embed(["a"], never).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: "unavailable", message: expect.stringMatching(problem) });
    expect(String(refused)).not.toContain(key);
    const before = requests.length;
    expect(before).toBe(1);
    await expect(embedder.embed(["a"], never)).rejects.toMatchObject({ kind: "unavailable" });
    expect(requests).toHaveLength(before);
  },
);

// Requirement: KNOW-5
test("a text that a server refuses is a failure that does not quote it, and pauses nothing", async () => {
  answer = () => [400, { error: { message: "input too long: SECRET" } }];
  const embedder = await open();
  for (let call = 1; call <= 2; call++) {
    const refused = await embedder.embed(["a"], never).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: "invalid" });
    expect(String(refused)).not.toContain("SECRET");
    expect(requests).toHaveLength(call);
  }
});

test("letters of words are compared without a server, always with the same result", async () => {
  const { model, embed } = hashedEmbedder("letters");
  expect(model).toBe("scripted:letters");
  const { vectors } = await embed(["vacation", "vacatoin", "refund"], never);
  const [word = [], typo = [], other = []] = vectors;
  expect(cosine(word, typo)).toBeGreaterThan(cosine(word, other));
  expect((await embed(["vacation"], never)).vectors).toEqual([word]);
});

function product(x: readonly number[], y: readonly number[]): number {
  return x.reduce((sum, value, index) => sum + value * (y[index] ?? 0), 0);
}

function cosine(a: readonly number[], b: readonly number[]): number {
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}

function violationsOf(provider: string) {
  const claude = '{ name: claude, api: anthropic, base_url: "https://a.example" }';
  const text = `providers: [${claude}]\nembeddings: { provider: ${provider}, model: m }`;
  return providerViolations(parseModelRegistry(text, "models.yaml"));
}

test("a registry names only a provider that has embeddings", () => {
  for (const provider of ["claude", "missing"]) {
    expect(violationsOf(provider)).toMatchObject([{ field: "embeddings.provider" }]);
  }
  expect(violationsOf("openai")).toEqual([]);
});
