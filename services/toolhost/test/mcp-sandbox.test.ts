import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { JsonObject } from "@bufbuild/protobuf";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { mcpServerConfig } from "../src/tools/mcp/mcp-config.ts";
import { McpServer } from "../src/tools/mcp/mcp-server.ts";
import { noSecrets } from "./support/no-secrets.ts";
import { contextOf } from "./support/call-context.ts";

const log = createLogger("test", "silent");
const identity = sandboxIdentity(64_017);
const never = new AbortController().signal;
let folder: string;
let server: McpServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "reeve-mcp-sandbox-"));
  chmodSync(folder, 0o755);
  for (const name of ["code", "open", "closed"]) {
    mkdirSync(join(folder, name));
    chmodSync(join(folder, name), 0o777);
    writeFileSync(join(folder, name, "note.txt"), `in ${name}`);
  }
  const program = join(folder, "code/server.py");
  copyFileSync(join(import.meta.dirname, "support/curious_server.py"), program);
  chmodSync(program, 0o644);
  const config = mcpServerConfig({
    command: "/usr/bin/python3",
    args: [program],
    env: { API_KEY: "k" },
    read: [join(folder, "code")],
    write: [join(folder, "open")],
  });
  server = new McpServer("curious", config, {
    log,
    identity,
    secrets: noSecrets,
    onTools: () => undefined,
  });
  await server.tried;
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function textOf(tool: string, args: JsonObject = {}): Promise<string> {
  return (await server.call(tool, contextOf(args), never)).content;
}

// Requirement: HOST-7
describe("an MCP server in its sandbox", () => {
  test("sees the configured paths, and may write only to those for writing", async () => {
    expect(await textOf("read", { path: join(folder, "open/note.txt") })).toBe("in open");
    expect(await textOf("write", { path: join(folder, "open/new.txt") })).toBe("7");
    expect(await textOf("read", { path: join(folder, "code/note.txt") })).toBe("in code");
    expect(await textOf("write", { path: join(folder, "code/new.txt") })).toContain("Read-only");
    expect(await textOf("read", { path: join(folder, "closed/note.txt") })).toContain(
      "No such file",
    );
  });

  test("sees nothing else of the host", async () => {
    expect(await textOf("list", { path: "/" })).not.toMatch(/home|root|var/);
    expect(await textOf("read", { path: "/etc/passwd" })).toContain("No such file");
    expect(await textOf("write", { path: "/usr/new" })).toContain("Read-only");
    expect((await textOf("processes")).split(" ").length).toBeLessThan(5);
  });

  test("has a separate environment", async () => {
    const environment = JSON.parse(await textOf("environment")) as Record<string, string>;
    expect(Object.keys(environment).filter((name) => !/^(LC_|PWD$)/.test(name))).toEqual([
      "API_KEY",
      "HOME",
      "LANG",
      "PATH",
    ]);
    expect(environment).toMatchObject({ API_KEY: "k", HOME: "/tmp" });
  });

  test("has no network", async () => {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    // A TCP listener has an address and a port.
    const { port } = listener.address() as AddressInfo;
    expect(await textOf("connect", { port })).toContain("Connection refused");
    listener.close();
  });

  test("is never root", async () => {
    const own = `${process.geteuid?.()} ${process.getegid?.()}`;
    expect(await textOf("ids")).toBe(identity.isDedicated ? "64017 64017" : own);
  });
});

test("a program that is missing in the sandbox is unavailable, and the model learns nothing more", async () => {
  const config = mcpServerConfig({ command: join(folder, "closed/program") });
  await using missing = new McpServer("missing", config, {
    log,
    identity,
    secrets: noSecrets,
    onTools: () => undefined,
  });
  await missing.tried;
  const call = missing.call("read", contextOf(), never);
  await expect(call).rejects.toThrow(
    /^the MCP server missing is not connected: .*the call was not made$/,
  );
  await expect(call).rejects.not.toThrow("closed/program");
});
