import { createLogger } from "@reeve/platform/telemetry/logger";
import { describe, expect, test } from "vitest";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { mcpServerConfig } from "../src/tools/mcp/mcp-config.ts";
import { McpServer } from "../src/tools/mcp/mcp-server.ts";
import type { Progress } from "@reeve/calls/ports/tool";
import { contextOf } from "./support/call-context.ts";
import { noSecrets } from "./support/no-secrets.ts";
import { HttpMcpServer } from "./support/http-mcp-server.ts";

const log = createLogger("test", "silent");
const identity = sandboxIdentity(64_017);
const never = new AbortController().signal;
const args = { q: "tea" };
const opened = { allow_addresses: ["127.0.0.1"] };

/** Returns the client of a server, after its first attempt to connect. */
async function connected(
  given: Parameters<typeof mcpServerConfig>[0],
  onTools: () => void = () => undefined,
): Promise<McpServer> {
  const server = new McpServer("web", mcpServerConfig(given), {
    log,
    identity,
    secrets: noSecrets,
    onTools,
  });
  await server.tried;
  return server;
}

describe("a server over HTTP without sessions", () => {
  // Requirement: MCP-1
  test("receives the configured headers, and returns progress and results", async () => {
    await using remote = await HttpMcpServer.start();
    await using web = await connected({ url: remote.url, headers: { "x-key": "k" }, ...opened });
    const reports: Progress[] = [];
    const context = contextOf(args, (report) => reports.push(report));
    expect(await web.call("search", context, never)).toMatchObject({ content: "found tea" });
    expect(reports).toEqual([{ progress: 1, total: 2, message: "half" }]);
    expect(remote.headers.length).toBeGreaterThan(1);
    for (const headers of remote.headers) expect(headers).toMatchObject({ "x-key": "k" });
    expect(remote.headers.at(-1)).toMatchObject({ "mcp-protocol-version": "2026-07-28" });
  });

  test("is notified when a call is cancelled", async () => {
    await using remote = await HttpMcpServer.start();
    await using web = await connected({ url: remote.url, ...opened });
    const stop = new AbortController();
    const call = web.call("hang", contextOf(args), stop.signal);
    const { ended } = await remote.hanging.promise;
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    await ended;
  });

  test("may change its tools", async () => {
    const listed = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let times = 0;
    await using remote = await HttpMcpServer.start();
    await using web = await connected({ url: remote.url, ...opened }, () =>
      listed[times++]?.resolve(),
    );
    await listed[0]?.promise;
    remote.changed("other");
    await listed[1]?.promise;
    expect(web.tools.map(({ name }) => name)).toEqual(["other"]);
  });

  test("that dies during a call leaves its outcome unknown, and is connected again when it is back", async () => {
    const back = Promise.withResolvers<void>();
    let times = 0;
    await using remote = await HttpMcpServer.start();
    await using web = await connected({ url: remote.url, ...opened }, () => {
      if (++times === 2) back.resolve();
    });
    const call = web.call("hang", contextOf(args), never);
    await remote.hanging.promise;
    await remote[Symbol.asyncDispose]();
    await expect(call).rejects.toThrow(
      /web is not connected any more: the connection was lost during the call; .*outcome is unknown/,
    );
    await expect(web.call("search", contextOf(args), never)).rejects.toThrow(
      /web is not connected/,
    );
    await using again = await HttpMcpServer.start(remote.port);
    await back.promise;
    expect(again.port).toBe(remote.port);
    expect(await web.call("search", contextOf(args), never)).toMatchObject({ isError: false });
  });

  test("that fails one call stays connected for other calls, current and later", async () => {
    await using remote = await HttpMcpServer.start();
    remote.broken = "boom";
    await using web = await connected({ url: remote.url, ...opened });
    const stop = new AbortController();
    const other = web.call("hang", contextOf(args), stop.signal);
    await remote.hanging.promise;
    const failed = await web.call("boom", contextOf(args), never);
    expect(failed).toMatchObject({ isError: true });
    expect(failed.content).toMatch(/a secret of one call.*outcome is unknown/);
    expect(await web.call("search", contextOf(args), never)).toMatchObject({ isError: false });
    stop.abort(new Error("still running"));
    await expect(other).rejects.toThrow("still running");
  });

  // Requirement: MCP-1
  test("is not reached at an address of this host unless the operator permits it", async () => {
    await using remote = await HttpMcpServer.start();
    for (const host of ["127.0.0.1", "localhost"]) {
      await using web = await connected({ url: `http://${host}:${remote.port}/mcp` });
      expect(web.tools).toEqual([]);
      await expect(web.call("search", contextOf(), never)).rejects.toThrow(
        /is not permitted.*the call was not made/,
      );
    }
    expect(remote.headers).toEqual([]);
  });
});
