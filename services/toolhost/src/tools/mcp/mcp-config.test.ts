import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PermissionClass } from "@reeve/contracts/tool";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readMcpConfig } from "./mcp-config.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reeve-mcp-config-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function read(config: unknown, environment: Record<string, string> = {}) {
  const path = join(folder, "mcp.json");
  writeFileSync(path, typeof config === "string" ? config : JSON.stringify(config));
  return await readMcpConfig(path, environment);
}

describe("the file of MCP servers", () => {
  test("may be missing", async () => {
    expect(await readMcpConfig(undefined, {})).toEqual(new Map());
  });

  test("denies what it does not permit", async () => {
    const servers = { a: { command: "a" }, b: { url: "https://b.example/mcp" } };
    const found = await read({ servers });
    expect(found.get("a")).toMatchObject({
      sandbox: true,
      network: false,
      read: [],
      write: [],
      elicitation: false,
      permission_class: PermissionClass.NETWORK,
    });
    expect(found.get("b")).toMatchObject({ allow_addresses: [], headers: {}, elicitation: false });
  });

  test("takes secrets from the environment by name", async () => {
    const servers = {
      a: { command: "a", env: { KEY: "${A_KEY}" } },
      b: { url: "https://b.example/mcp", headers: { authorization: "Bearer ${B_KEY}" } },
    };
    const found = await read({ servers }, { A_KEY: "1", B_KEY: "2" });
    expect(found.get("a")).toMatchObject({ env: { KEY: "1" } });
    expect(found.get("b")).toMatchObject({ headers: { authorization: "Bearer 2" } });
    await expect(read({ servers }, { A_KEY: "1" })).rejects.toThrow("the environment has no B_KEY");
  });

  test("removes the newline at the end of a secret, as files have it", async () => {
    const servers = { b: { url: "https://b.example/mcp", headers: { "x-key": "${KEY}" } } };
    const found = await read({ servers }, { KEY: "k\n" });
    expect(found.get("b")).toMatchObject({ headers: { "x-key": "k" } });
    await expect(read({ servers }, { KEY: "\n" })).rejects.toThrow("the environment has no KEY");
  });

  test.each(["SECRET\nrest", "SECRET\0", "SECRETé"])(
    "refuses %j in a header, and does not reveal it",
    async (secret) => {
      const servers = { b: { url: "https://b.example/mcp", headers: { "x-key": "${KEY}" } } };
      const refused = await read({ servers }, { KEY: secret }).catch(String);
      expect(refused).toMatch(/printable ASCII characters: x-key/);
      expect(refused).not.toContain("SECRET");
    },
  );

  test.each<[string, unknown, RegExp]>([
    ["has a header with a space", { a: { url: "http://a/", headers: { "a b": "" } } }, /headers/],
    [
      "contains a null character",
      { a: { command: "a", env: { A: "\0" } } },
      /null.*servers.a.env.A/s,
    ],
    ["is not JSON", "{", /mcp.json is not JSON/],
    [
      "has a server of two kinds",
      { a: { command: "a", url: "https://a/" } },
      /"command".*servers.a/s,
    ],
    ["misspells a setting", { a: { command: "a", sandbx: false } }, /"sandbx".*servers.a/s],
    ["has a name with a space", { "a b": { command: "a" } }, /letters, digits, and -.*a b/s],
    ["reads a relative path", { a: { command: "a", read: ["b"] } }, /servers.a.read\[0\]/],
    ["has another kind of URL", { a: { url: "file:///etc/passwd" } }, /servers.a.url/],
    [
      "permits an invalid address",
      { a: { url: "http://a/", allow_addresses: ["10.0.0.0/33"] } },
      /is not an address.*servers.a.allow_addresses\[0\]/s,
    ],
    ["has null instead of a server", { a: null }, /servers.a/],
  ])("that %s is refused", async (_, servers, problem) => {
    const config = typeof servers === "string" ? servers : { servers };
    await expect(read(config)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(problem),
    });
  });
});

describe("secrets in the configuration", () => {
  const command = { command: "/usr/bin/server", env: { TOKEN: "${secret:tracker}" } };
  const remote = { url: "https://mcp.example.com/mcp" };
  const client = { issuer: "https://login.example.com", client_id: "reeve" };

  test("stay references, and are used with the tenant that lists the tools", async () => {
    const server = { ...command, catalog_tenant: "acme" };
    const servers = await read({ servers: { files: server } });
    expect(servers.get("files")).toMatchObject({ ...server, max_tenants: 16, idle_seconds: 300 });
  });

  test.each([
    [command, /the server files uses secrets, so it needs catalog_tenant/],
    [
      { ...command, env: { TOKEN: "${secret:../globex/a}" }, catalog_tenant: "acme" },
      /TOKEN refers to "..\/globex\/a", which cannot be a secret/,
    ],
    [{ command: "/usr/bin/server", principal: "headers" }, /principal/],
    [{ command: "/usr/bin/server", max_tenants: 0 }, /max_tenants/],
    [
      { ...remote, oauth: { ...client, client_secret: "${secret:client}" } },
      /needs catalog_tenant/,
    ],
    [{ ...remote, oauth: client }, /needs client_secret, refresh_token, or both/],
    [{ ...remote, oauth: { ...client, issuer: "http://login.example.com" } }, /https/],
    [
      { ...remote, headers: { Authorization: "x" }, oauth: { ...client, client_secret: "s" } },
      /has both oauth and a header authorization/,
    ],
  ])("are refused with a mistake: %j", async (server, message) => {
    await expect(read({ servers: { files: server } })).rejects.toThrow(message);
  });
});
