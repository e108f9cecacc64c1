import type { ServerResponse } from "node:http";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { environmentSecrets } from "@reeve/toolhost/secrets/environment-secrets";
import { Secrets } from "@reeve/toolhost/secrets/secrets";
import { contextOf } from "@reeve/toolhost/test/support/call-context";
import { HttpMcpServer } from "@reeve/toolhost/test/support/http-mcp-server";
import { mcpServerConfig } from "@reeve/toolhost/tools/mcp/mcp-config";
import { McpServer } from "@reeve/toolhost/tools/mcp/mcp-server";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { audience, cliClient, program, signIn, startOidcServer } from "../support/oidc-server.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;

/** An MCP server that accepts only tokens of an OpenID Connect provider, and the metadata that says so. */
async function protectedServer(issuer: string) {
  const remote = await HttpMcpServer.start();
  remote.tools = ["repeat"];
  const origin = `http://127.0.0.1:${remote.port}`;
  const readKeys = () => createRemoteJWKSet(new URL(`${issuer}/jwks`));
  let keys = readKeys();
  const described = { authorizationServer: issuer };
  const callers: unknown[] = [];
  remote.guard = async ({ url = "", headers }, response) => {
    if (url === "/.well-known/oauth-protected-resource/mcp") {
      const { authorizationServer } = described;
      const metadata = { resource: remote.url, authorization_servers: [authorizationServer] };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(metadata));
      return true;
    }
    try {
      const token = headers.authorization?.replace("Bearer ", "") ?? "";
      const { payload } = await jwtVerify(token, keys, { issuer, audience });
      callers.push(payload.sub);
      return false;
    } catch {
      const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
      return refuse(response, `Bearer resource_metadata="${metadata}"`);
    }
  };
  const rereadKeys = () => void (keys = readKeys());
  return { remote, described, callers, rereadKeys };
}

function refuse(response: ServerResponse, challenge: string): boolean {
  response.writeHead(401, { "www-authenticate": challenge }).end();
  return true;
}

/** The secrets `client` and `grant` of the tenants `acme` and `globex`. */
function secretsOf(values: Record<string, string>) {
  const names = {
    acme: { client: "acme_CLIENT", grant: "acme_GRANT" },
    globex: { client: "globex_CLIENT", grant: "globex_GRANT" },
  };
  return new Secrets([environmentSecrets(names, values)], processRedaction);
}

type OAuth = Extract<Parameters<typeof mcpServerConfig>[0], { url: string }>["oauth"];

async function connected(url: string, oauth: OAuth, values: Record<string, string>) {
  const opened = { allow_addresses: ["127.0.0.1"], catalog_tenant: "acme" };
  const config = mcpServerConfig({ url, oauth, ...opened });
  const secrets = secretsOf(values);
  const ports = { log, identity: sandboxIdentity(64_017), secrets, onTools: () => undefined };
  const server = new McpServer("tracker", config, ports);
  await server.tried;
  return server;
}

async function textOf(server: McpServer, tenant: string): Promise<string> {
  return (await server.call("repeat", contextOf({}, undefined, { tenant }), never)).content;
}

/** Returns a refresh token that a person granted to a client without a secret. */
async function grantOf(issuer: string, resource: string): Promise<string> {
  const post = async (path: string, fields: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams({ client_id: cliClient, resource, ...fields });
    const response = await fetch(`${issuer}${path}`, { method: "POST", body });
    return (await response.json()) as Readonly<Record<string, string>>;
  };
  const scope = "openid offline_access";
  const device = await post("/device/auth", { scope, prompt: "consent" });
  await signIn(device["verification_uri_complete"] ?? "", "ada");
  const tokens = await post("/token", {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: device["device_code"] ?? "",
  });
  return tokens["refresh_token"] ?? "";
}

describe("an MCP server that requires OAuth", () => {
  test("is used with the client of the tenant, whose tokens nobody reads", async () => {
    await using provider = await startOidcServer({});
    const { remote, callers } = await protectedServer(provider.issuer);
    await using _ = remote;
    const values: Record<string, string> = { acme_CLIENT: program.secret };
    const oauth = {
      issuer: provider.issuer,
      client_id: program.id,
      client_secret: "${secret:client}",
    };
    await using server = await connected(remote.url, oauth, values);
    expect(server.problem).toBeUndefined();
    const text = await textOf(server, "acme");
    expect(text).toMatch(/"authorization":"Bearer eyJ/);
    // What a toolhost does with each result.
    expect(processRedaction.text(text)).toContain('"authorization":"Bearer [redacted]"');
    expect(new Set(callers)).toEqual(new Set([program.id]));
    await expect(textOf(server, "globex")).rejects.toThrow(
      /^the secret client of tenant globex does not exist/,
    );
    values["globex_CLIENT"] = "a-wrong-secret-of-globex";
    await expect(textOf(server, "globex")).rejects.toThrow(
      /has no connection for tenant globex: .*the authorization server gives no token: .*; the call was not made$/,
    );
  });

  test("is used with the grant of a person, also after the server has replaced the token", async () => {
    await using provider = await startOidcServer({});
    const { remote, callers, rereadKeys } = await protectedServer(provider.issuer);
    await using _ = remote;
    const values = { acme_GRANT: await grantOf(provider.issuer, remote.url) };
    const oauth = {
      issuer: provider.issuer,
      client_id: cliClient,
      refresh_token: "${secret:grant}",
    };
    await using server = await connected(remote.url, oauth, values);
    expect(await textOf(server, "acme")).toContain("Bearer eyJ");
    expect(new Set(callers)).toEqual(new Set(["ada"]));
    // Tokens that the old key signed are refused, so a new one is needed, twice.
    for (let rotations = 0; rotations < 2; rotations++) {
      await provider.rotateKey();
      rereadKeys();
      expect(await textOf(server, "acme")).toContain("Bearer eyJ");
    }
    expect(new Set(callers)).toEqual(new Set(["ada"]));
  });

  test("cannot have the credentials sent to another authorization server", async () => {
    await using provider = await startOidcServer({});
    await using hostile = await startOidcServer({});
    const { remote, described } = await protectedServer(provider.issuer);
    await using _ = remote;
    described.authorizationServer = hostile.issuer;
    const oauth = {
      issuer: provider.issuer,
      client_id: program.id,
      client_secret: "${secret:client}",
    };
    await using server = await connected(remote.url, oauth, { acme_CLIENT: program.secret });
    expect(server.problem).toMatch(/the authorization server gives no token: .*issuer|mismatch/i);
    expect(server.problem).toContain(hostile.issuer);
    await expect(textOf(server, "acme")).rejects.toThrow(/the call was not made$/);
  });
});
