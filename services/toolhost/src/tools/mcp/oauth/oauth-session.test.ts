import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import { discoveryLifetimeMs, OAuthSession } from "./oauth-session.ts";

const serverUrl = new URL("https://tracker.example.com/mcp");
const issuer = "https://login.example.com";

/** A session whose MCP server names `named` as its authorization server, and what the session requested. */
function opened() {
  const clock = new ManualClock();
  const server = { named: issuer, isDown: false };
  const requests: string[] = [];
  const fetchFn = (input: string | URL) => {
    const { origin, pathname } = new URL(input);
    requests.push(origin + pathname);
    if (server.isDown) return Promise.resolve(new Response("", { status: 503 }));
    if (pathname === "/.well-known/oauth-protected-resource/mcp") {
      const metadata = { resource: serverUrl.href, authorization_servers: [server.named] };
      return Promise.resolve(Response.json(metadata));
    }
    if (pathname === "/.well-known/oauth-authorization-server") {
      return Promise.resolve(Response.json(metadataOf(origin)));
    }
    if (pathname === "/token") {
      return Promise.resolve(Response.json({ access_token: "opaque", token_type: "bearer" }));
    }
    return Promise.resolve(new Response("", { status: 404 }));
  };
  const client = { issuer, clientId: "reeve", clientSecret: "the-secret-of-reeve" };
  const session = new OAuthSession({ ...client, refreshToken: undefined, scope: undefined }, clock);
  const challenge = { "www-authenticate": "Bearer" };
  const renew = async () => {
    requests.length = 0;
    const response = new Response("", { status: 401, headers: challenge });
    await session.onUnauthorized({ response, serverUrl, fetchFn });
    return await session.token();
  };
  return { clock, server, requests, renew };
}

function metadataOf(origin: string) {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    response_types_supported: ["code"],
    grant_types_supported: ["client_credentials"],
    token_endpoint_auth_methods_supported: ["client_secret_basic"],
  };
}

const discoveries = [
  `${serverUrl.origin}/.well-known/oauth-protected-resource/mcp`,
  `${issuer}/.well-known/oauth-authorization-server`,
];

test("a server that once named another authorization server is asked again", async () => {
  const { server, renew } = opened();
  server.named = "https://other.example.com";
  await expect(renew()).rejects.toThrow(/gives no token/);
  server.named = issuer;
  expect(await renew()).toBe("opaque");
});

test("a server without metadata is asked again", async () => {
  const { server, renew } = opened();
  server.isDown = true;
  await expect(renew()).rejects.toThrow(/gives no token/);
  server.isDown = false;
  expect(await renew()).toBe("opaque");
});

test("a discovery that led to a token is used for its lifetime, and then repeated", async () => {
  const { clock, requests, renew } = opened();
  await renew();
  expect(requests).toEqual([...discoveries, `${issuer}/token`]);
  await clock.advance(discoveryLifetimeMs - 1);
  await renew();
  expect(requests).toEqual([`${issuer}/token`]);
  await clock.advance(1);
  await renew();
  expect(requests).toEqual([...discoveries, `${issuer}/token`]);
});
