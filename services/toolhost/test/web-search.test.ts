import type { IncomingMessage } from "node:http";
import { Redaction } from "@reeve/platform/telemetry/redaction/redaction";
import { recordingLog } from "@reeve/sandbox/test/support/recording-log";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSearchEngine } from "../src/tools/web/search/open-search-engine.ts";
import { webSearch } from "../src/tools/web/web-search.ts";
import { contextOf } from "./support/call-context.ts";
import type { WebServer } from "./support/web/web-bench.ts";
import { testEgress, webServer } from "./support/web/web-bench.ts";

const never = new AbortController().signal;
const { log, logged } = recordingLog();
const key = "canary-search-18d3";
const found = Array.from({ length: 4 }, (_, index) => ({
  title: `Title ${index}`,
  url: `https://example.org/${index}`,
  text: `Snippet ${index}`,
}));

/** What each engine answers, as its API is documented, and how it must be asked. */
const engines = {
  searxng: {
    path: "/base/search?q=red+pandas&format=json",
    keyOf: ({ headers }: IncomingMessage) => headers.authorization?.replace("Bearer ", ""),
    answer: {
      query: "red pandas",
      results: found.map(({ text, ...rest }) => ({ ...rest, content: text })),
    },
    empty: { query: "red pandas", results: [] },
  },
  brave: {
    path: "/base/res/v1/web/search?q=red+pandas&count=3&text_decorations=false",
    keyOf: ({ headers }: IncomingMessage) => headers["x-subscription-token"],
    answer: {
      type: "search",
      web: {
        type: "search",
        results: found.map(({ text, ...rest }) => ({ ...rest, description: text })),
      },
    },
    empty: { type: "search", query: { original: "red pandas" } },
  },
} as const;

let server: WebServer;
let answer: {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
};
let asked: IncomingMessage | undefined;

beforeAll(async () => {
  server = await webServer((request, response) => {
    asked = request;
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
});
afterAll(() => server[Symbol.asyncDispose]());

describe.each(["searxng", "brave"] as const)("web_search with %s", (kind) => {
  const { path, keyOf, answer: results, empty } = engines[kind];

  async function searched() {
    const settings = {
      REEVE_WEB_SEARCH: kind,
      REEVE_WEB_SEARCH_URL: `http://127.0.0.1:${server.port}/base/`,
      REEVE_WEB_SEARCH_KEY: key,
    };
    const engine = openSearchEngine(settings, new Redaction());
    if (engine === undefined) throw new Error("there is no engine");
    const { call } = webSearch({ engine, egress: testEgress().egress, log });
    return await call(contextOf({ query: "red pandas", count: 3 }), never);
  }

  async function reasonFor(given: typeof answer): Promise<string> {
    answer = given;
    const { content, isError } = await searched();
    expect(isError).toBe(true);
    return content;
  }

  // Requirement: WEB-5
  test("returns the title, URL, and snippet of as many results as were requested", async () => {
    answer = { status: 200, body: JSON.stringify(results) };
    expect((await searched()).structured).toEqual({
      results: found.slice(0, 3).map(({ title, url, text }) => ({ title, url, snippet: text })),
    });
    expect(asked?.url).toBe(path);
    expect(asked && keyOf(asked)).toBe(key);
  });

  // Requirement: WEB-5
  test("returns no results if nothing was found", async () => {
    answer = { status: 200, body: JSON.stringify(empty) };
    expect((await searched()).structured).toEqual({ results: [] });
  });

  // Requirement: WEB-5
  test("says why there is no answer, and does not follow the engine elsewhere", async () => {
    expect(await reasonFor({ status: 429, body: "" })).toMatch(/the status 429/);
    expect(await reasonFor({ status: 200, body: "<html>" })).toMatch(/not of the configured API/);
    const location = `http://a.test:${server.port}/`;
    const elsewhere = await reasonFor({ status: 302, body: "", headers: { location } });
    expect(elsewhere).toMatch(/cannot be reached/);
    expect(elsewhere).not.toMatch(/a\.test|127\.0\.0\.1/);
    expect(logged.at(-1)).toMatchObject({
      detail: expect.stringMatching(/a\.test:\d+ is not among/),
    });
  });

  // Requirement: WEB-5
  test("returns long results in part, and none with a URL that is too long", async () => {
    const long = { title: "t".repeat(9_000), url: "https://example.org/", text: "s".repeat(9_000) };
    const other = { ...long, url: `https://example.org/${"u".repeat(9_000)}` };
    const given = [other, long].map(({ text, ...rest }) => ({
      ...rest,
      content: text,
      description: text,
    }));
    const body =
      kind === "brave" ? { type: "search", web: { results: given } } : { results: given };
    answer = { status: 200, body: JSON.stringify(body) };
    const { structured, content } = await searched();
    expect(structured).toMatchObject({ results: [{ url: "https://example.org/" }] });
    expect(content.length).toBeLessThan(1_500);
  });
});

const open = (kind: "searxng" | "brave" | undefined, url?: string, given?: string) =>
  openSearchEngine(
    { REEVE_WEB_SEARCH: kind, REEVE_WEB_SEARCH_URL: url, REEVE_WEB_SEARCH_KEY: given },
    new Redaction(),
  );

describe("the settings of web_search", () => {
  // Requirement: WEB-5
  test("are optional, and complete if there is an engine", () => {
    expect(open(undefined)).toBeUndefined();
    expect(open("brave", undefined, key)?.baseUrl.href).toBe("https://api.search.brave.com/");
    expect(open("searxng", "http://searxng:8080")?.baseUrl.host).toBe("searxng:8080");
    expect(() => open("searxng")).toThrow("REEVE_WEB_SEARCH_URL");
    expect(() => open("brave")).toThrow("REEVE_WEB_SEARCH_KEY");
    expect(() => open("brave", "http://example.org", key)).toThrow("https://");
  });

  // Requirement: WEB-5
  test("make the key unreadable in logs and results", () => {
    const redaction = new Redaction();
    openSearchEngine(
      { REEVE_WEB_SEARCH: "brave", REEVE_WEB_SEARCH_URL: undefined, REEVE_WEB_SEARCH_KEY: key },
      redaction,
    );
    expect(redaction.text(`a ${key} b`)).toBe("a [redacted] b");
  });
});
