import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { GatewayBench } from "./support/gateway-bench.ts";
import { openGatewayBench } from "./support/gateway-bench.ts";

const resources = new AsyncDisposableStack();
let bench: GatewayBench;

const page = "<!doctype html><title>Reeve</title>";
const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-console-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), page);
  writeFileSync(join(folder, "assets/index-1a2b.js"), "export {};");
  writeFileSync(join(folder, "notes.secret"), "not for everybody");
  bench = resources.use(await openGatewayBench({ REEVE_CONSOLE_DIR: folder }));
});

afterAll(async () => {
  await resources.disposeAsync();
});

function request(path: string, headers: Readonly<Record<string, string>> = browser) {
  return fetch(`${bench.url}${path}`, { headers });
}

test("browsers get the page for every screen, with a strict policy and without a copy in a cache", async () => {
  for (const path of ["/", "/runs", "/runs/run_1/events", "/inbox", "/agents/writer?x=1"]) {
    const answer = await request(path);
    expect(await answer.text()).toBe(page);
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
  }
});

test("browsers read on the page that an address is unknown, and programs in JSON", async () => {
  const mistyped = await request("/runz/run_1");
  expect({ status: mistyped.status, text: await mistyped.text() }).toEqual({
    status: 404,
    text: page,
  });
  const program = await request("/runz", {});
  expect(program.headers.get("content-type")).toBe("application/json");
});

test("a page that has not changed is not sent again", async () => {
  const etag = (await request("/")).headers.get("etag") ?? "";
  const again = await request("/", { ...browser, "if-none-match": etag });
  expect(again.status).toBe(304);
});

test("files with a digest in their name may be kept for a year", async () => {
  const answer = await request("/assets/index-1a2b.js", {});
  expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
});

test("programs still read the welcome page", async () => {
  const answer = await request("/", {});
  expect(await answer.text()).toContain("/openapi.json");
});

test("what is neither a screen nor a file of the build is not found", async () => {
  for (const path of [
    "/v1/none",
    "/reeve.run.v1.RunService/None",
    "/assets/none.js",
    "/notes.secret",
    "/assets/../notes.secret",
    "/assets/%2e%2e/notes.secret",
    "/none",
  ]) {
    expect((await request(path)).status).toBe(404);
  }
  const api = await request("/v1/runs/none", { ...browser });
  expect(api.status).toBe(401);
});

test("a gateway without a build says how to make one, and nothing else changes", async () => {
  await using other = await openGatewayBench({ REEVE_CONSOLE_DIR: "/nonexistent" });
  const answer = await fetch(other.url, { headers: browser });
  expect(await answer.text()).toContain("npm run console:build");
  expect((await fetch(`${other.url}/runs`, { headers: browser })).status).toBe(404);
  expect(await (await fetch(other.url)).text()).toContain("/openapi.json");
});

test("the console can be switched off", async () => {
  await using other = await openGatewayBench({ REEVE_CONSOLE: "false" });
  const answer = await fetch(other.url, { headers: browser });
  expect(await answer.text()).toContain("/openapi.json");
  expect((await fetch(`${other.url}/runs`, { headers: browser })).status).toBe(404);
});

test("a gateway without a provider offers no sign-in but tokens", async () => {
  const answer = await request("/console/sign-in.json", {});
  expect(await answer.json()).toEqual({});
  expect((await request("/")).headers.get("content-security-policy")).toContain(
    "connect-src 'self';",
  );
});
