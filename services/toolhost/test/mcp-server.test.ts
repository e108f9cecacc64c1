import { join } from "node:path";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { PermissionClass } from "@reeve/contracts/tool";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { mcpServerConfig } from "../src/tools/mcp/mcp-config.ts";
import { McpServer } from "../src/tools/mcp/mcp-server.ts";
import { mcpTools } from "../src/tools/mcp/mcp-tools.ts";
import type { Progress } from "@reeve/calls/ports/tool";
import { noSecrets } from "./support/no-secrets.ts";
import { contextOf } from "./support/call-context.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
const program = join(import.meta.dirname, "support/progress-server.ts");
const config = mcpServerConfig({ command: process.execPath, args: [program], sandbox: false });
const identity = sandboxIdentity(64_017);
let listed = Promise.withResolvers<void>();
let server: McpServer;

beforeAll(async () => {
  server = new McpServer("demo", config, {
    log,
    identity,
    secrets: noSecrets,
    onTools: () => listed.resolve(),
  });
  await server.tried;
});

afterAll(() => server[Symbol.asyncDispose]());

const args = { q: "tea" };

// Requirement: PERM-1
test("offers the tools of the server, as network tools under its name", () => {
  const [search] = mcpTools(server);
  expect(search?.descriptor).toMatchObject({
    name: "mcp__demo__search",
    source: "mcp:demo",
    permissionClass: PermissionClass.NETWORK,
    idempotent: true,
  });
});

// Requirement: MCP-2
test("reports all progress before the result, every time", async () => {
  for (let call = 0; call < 50; call++) {
    const reports: Progress[] = [];
    const outcome = await server.call(
      "search",
      contextOf(args, (report) => reports.push(report)),
      never,
    );
    expect(outcome).toMatchObject({ content: 'found: "tea"', isError: false });
    expect(reports).toEqual([
      { progress: 1, total: 2, message: "step 1" },
      { progress: 2, total: 2, message: "step 2" },
    ]);
  }
});

test("abandons a call that is cancelled", async () => {
  const stop = new AbortController();
  const call = server.call(
    "hang",
    contextOf(args, () => stop.abort(new Error("enough"))),
    stop.signal,
  );
  await expect(call).rejects.toThrow("enough");
  expect(await server.call("search", contextOf(args), never)).toMatchObject({ isError: false });
});

test("fails a call during which the server dies, and starts the server again", async () => {
  listed = Promise.withResolvers();
  await expect(server.call("crash", contextOf(args), never)).rejects.toThrow(/not connected/);
  await listed.promise;
  expect(await server.call("search", contextOf(args), never)).toMatchObject({ isError: false });
});

test("fails a call whose answer is larger than a message may be, and continues", async () => {
  listed = Promise.withResolvers();
  await expect(server.call("flood", contextOf(args), never)).rejects.toThrow(/not connected/);
  await listed.promise;
  expect(await server.call("search", contextOf(args), never)).toMatchObject({ isError: false });
});

test("a question that cannot be asked fails its call alone", async () => {
  const asking = mcpServerConfig({
    command: process.execPath,
    args: [join(import.meta.dirname, "support/asking-server.ts")],
    sandbox: false,
    elicitation: true,
  });
  let times = 0;
  await using shop = new McpServer("shop", asking, {
    log,
    identity,
    secrets: noSecrets,
    onTools: () => times++,
  });
  await shop.tried;
  const failure = new Failure("exhausted", ErrorReason.INVALID_REQUEST, "it asks too much");
  const refused = contextOf({}, undefined, { ask: () => Promise.reject(failure) });
  await expect(shop.call("order", refused, never)).rejects.toThrow(/^it asks too much$/);
  const broken = contextOf({}, undefined, { ask: () => Promise.reject(new Error("no bus")) });
  const outcome = await shop.call("order", broken, never);
  expect(outcome.content).toMatch(/the call failed: no bus; its outcome is unknown/);
  const answered = contextOf({}, undefined, {
    ask: () => Promise.resolve({ kind: "accepted", content: { dish: "soup" } }),
  });
  expect(await shop.call("order", answered, never)).toMatchObject({ content: "order 1: soup" });
  expect(times).toBe(1);
});

test("starts without a server that cannot be started", async () => {
  const missing = mcpServerConfig({ command: "/nothing/here", sandbox: false });
  await using absent = new McpServer("absent", missing, {
    log,
    identity,
    secrets: noSecrets,
    onTools: () => undefined,
  });
  await absent.tried;
  expect(mcpTools(absent)).toEqual([]);
  await expect(absent.call("search", contextOf(args), never)).rejects.toThrow(/not connected/);
});

test("the operator reads the last line of a program that ends, and the model does not", async () => {
  const code =
    'console.error("starting"); console.error("no such folder: /opt/mcp"); process.exit(1)';
  const broken = mcpServerConfig({ command: process.execPath, args: ["-e", code], sandbox: false });
  await using server = new McpServer("broken", broken, {
    log,
    identity,
    secrets: noSecrets,
    onTools: () => undefined,
  });
  await server.tried;
  expect(server.problem).toMatch(/: no such folder: \/opt\/mcp$/);
  const call = server.call("search", contextOf(args), never);
  await expect(call).rejects.not.toThrow("/opt/mcp");
});

test("the log has the problem of a server once, however often it is tried", async () => {
  const missing = mcpServerConfig({ command: "/nothing/here", sandbox: false });
  const warnings: string[] = [];
  const triedAgain = Promise.withResolvers<void>();
  const recording = createLogger("test", "silent");
  recording.child = vi.fn().mockReturnValue(recording);
  recording.warn = (_: unknown, message?: string) => void warnings.push(message ?? "");
  recording.debug = () => triedAgain.resolve();
  await using _ = new McpServer("absent", missing, {
    log: recording,
    identity,
    secrets: noSecrets,
    onTools: () => undefined,
  });
  await triedAgain.promise;
  expect(warnings).toEqual([expect.stringMatching(/^MCP server not connected: .*ENOENT/)]);
});
