import { join } from "node:path";
import process from "node:process";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { Redaction } from "@reeve/platform/telemetry/redaction/redaction";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { describe, expect, test } from "vitest";
import { environmentSecrets } from "../src/secrets/environment-secrets.ts";
import { Secrets } from "../src/secrets/secrets.ts";
import { mcpServerConfig } from "../src/tools/mcp/mcp-config.ts";
import { McpServer } from "../src/tools/mcp/mcp-server.ts";
import { contextOf } from "./support/call-context.ts";
import { HttpMcpServer } from "./support/http-mcp-server.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
const command = process.execPath;
const args = [join(import.meta.dirname, "support/stateful-server.ts")];

/** The secrets `token` of two tenants, which a test may change. */
function secretsOf(values: Record<string, string>) {
  const names = { acme: { token: "ACME" }, globex: { token: "GLOBEX" } };
  return new Secrets([environmentSecrets(names, values)], new Redaction());
}

async function connected(
  given: Parameters<typeof mcpServerConfig>[0],
  secrets = secretsOf({}),
): Promise<McpServer> {
  const ports = { log, identity: sandboxIdentity(64_017), secrets, onTools: () => undefined };
  const server = new McpServer("store", mcpServerConfig(given), ports);
  await server.tried;
  return server;
}

async function textOf(server: McpServer, tool: string, tenant: string, text = "") {
  const context = contextOf({ text, q: text }, undefined, {
    tenant,
    startedBy: `ada of ${tenant}`,
  });
  return (await server.call(tool, context, never)).content;
}

describe("a program with a process for each tenant", () => {
  test("keeps the state of tenants apart", async () => {
    await using server = await connected({ command, args, sandbox: false, per_tenant: true });
    expect(await textOf(server, "remember", "acme", "a1")).toMatch(/^a1\n/);
    expect(await textOf(server, "remember", "globex", "g1")).toMatch(/^g1\n/);
    expect(await textOf(server, "remember", "acme", "a2")).toMatch(/^a1,a2\n/);
  });

  test("without the setting has one process for all", async () => {
    await using server = await connected({ command, args, sandbox: false });
    expect(await textOf(server, "remember", "acme", "a1")).toMatch(/^a1\n/);
    expect(await textOf(server, "remember", "globex", "g1")).toMatch(/^a1,g1\n/);
  });

  test("has the secrets of its tenant, and a new process when they change", async () => {
    const values: Record<string, string> = { ACME: "token-of-acme", GLOBEX: "token-of-globex" };
    const env = { TOKEN: "Bearer ${secret:token}" };
    const given = { command, args, env, sandbox: false, catalog_tenant: "acme" };
    await using server = await connected(given, secretsOf(values));
    expect(server.tools).toHaveLength(5);
    expect(await textOf(server, "repeat", "acme")).toContain('"token":"Bearer token-of-acme"');
    expect(await textOf(server, "repeat", "globex")).toContain('"token":"Bearer token-of-globex"');
    values["ACME"] = "token-of-acme-2";
    expect(await textOf(server, "repeat", "acme")).toContain('"token":"Bearer token-of-acme-2"');
    values["GLOBEX"] = "";
    await expect(textOf(server, "repeat", "globex")).rejects.toThrow(
      /^the secret token of tenant globex does not exist; .* add the variable GLOBEX of the environment$/,
    );
    await expect(textOf(server, "repeat", "initech")).rejects.toThrow(
      /^the secret token of tenant initech does not exist/,
    );
  });

  test("learns the tenant and the subject of a call only if it wants them", async () => {
    await using told = await connected({ command, args, sandbox: false, principal: "meta" });
    expect(await textOf(told, "repeat", "acme")).toContain(
      '"meta":{"reeve/tenant":"acme","reeve/subject":"ada of acme"}',
    );
    await using untold = await connected({ command, args, sandbox: false });
    expect(await textOf(untold, "repeat", "acme")).toContain('"meta":{}');
  });
});

describe("a server over HTTP with secrets", () => {
  test("gets those of the tenant that calls in each request, as they are at that moment", async () => {
    await using remote = await HttpMcpServer.start();
    remote.tools = ["repeat"];
    const values: Record<string, string> = { ACME: "token-of-acme", GLOBEX: "token-of-globex" };
    const given = {
      url: remote.url,
      headers: { authorization: "Bearer ${secret:token}", "x-fixed": "f" },
      allow_addresses: ["127.0.0.1"],
      catalog_tenant: "acme",
    };
    await using server = await connected(given, secretsOf(values));
    expect(server.tools.map(({ name }) => name)).toEqual(["repeat"]);
    expect(await textOf(server, "repeat", "globex")).toContain("Bearer token-of-globex");
    expect(await textOf(server, "repeat", "acme")).toContain("Bearer token-of-acme");
    values["GLOBEX"] = "token-of-globex-2";
    expect(await textOf(server, "repeat", "globex")).toContain("Bearer token-of-globex-2");
    for (const headers of remote.headers) {
      expect(headers).toMatchObject({ "x-fixed": "f" });
      expect(headers.authorization).toMatch(/^Bearer token-of-(acme|globex|globex-2)$/);
    }
    values["GLOBEX"] = "token\nof-globex";
    await expect(textOf(server, "repeat", "globex")).rejects.toThrow(
      /secret of tenant globex in the header authorization must have only printable/,
    );
  });

  test("receives who calls in headers if it wants that", async () => {
    await using remote = await HttpMcpServer.start();
    remote.tools = ["repeat"];
    const given = {
      url: remote.url,
      allow_addresses: ["127.0.0.1"],
      principal: "headers" as const,
    };
    await using server = await connected(given);
    const text = await textOf(server, "repeat", "globex");
    expect(text).toContain('"reeve-tenant":"globex"');
    expect(text).toContain('"reeve-subject":"ada%20of%20globex"');
  });
});
