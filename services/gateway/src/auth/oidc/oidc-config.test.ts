import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Role } from "@reeve/contracts/access/role";
import { expect, onTestFinished, test } from "vitest";
import { readOidcConfig } from "./oidc-config.ts";

const valid = {
  issuer: "https://login.example.com",
  audience: "reeve",
  tenant: "acme",
  roles: { people: ["runner", "approver"] },
};

function written(config: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), "reeve-oidc-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "oidc.json");
  writeFileSync(path, JSON.stringify(config));
  return path;
}

test("a file needs the issuer, the audience, the tenant, and the roles of groups", async () => {
  expect(await readOidcConfig(written(valid))).toEqual({
    ...valid,
    algorithms: ["RS256", "PS256", "ES256", "EdDSA"],
    clock_skew_seconds: 30,
    subject_claim: ["sub"],
    groups_claim: ["groups"],
    roles: new Map([["people", [Role.RUNNER, Role.APPROVER]]]),
  });
});

test("the client of the console has defaults for all but its id", async () => {
  const { console } = await readOidcConfig(written({ ...valid, console: { client_id: "web" } }));
  expect(console).toEqual({
    client_id: "web",
    scope: "openid",
    parameters: {},
    connect_origins: [],
  });
});

test.each([
  ["a secret for browsers", { console: { client_id: "web", client_secret: "x" } }, "client_secret"],
  ["a symmetric algorithm", { algorithms: ["HS256"] }, "algorithms"],
  ["no algorithm", { algorithms: ["none"] }, "algorithms"],
  ["an issuer without TLS", { issuer: "http://login.example.com" }, "https://"],
  ["keys without TLS", { jwks_uri: "http://login.example.com/jwks" }, "https://"],
  ["an unknown role", { roles: { people: ["admin"] } }, "the roles are viewer, runner"],
  ["no roles", { roles: {} }, "gives no group a role"],
  ["the name of no tenant", { tenant: "Acme Inc" }, "tenant"],
  ["a misspelled setting", { audiences: ["reeve"] }, "audiences"],
  ["a tolerance that defeats expiry", { clock_skew_seconds: 86_400 }, "clock_skew_seconds"],
])("a file with %s is refused by name", async (_, change, problem) => {
  await expect(readOidcConfig(written({ ...valid, ...change }))).rejects.toThrow(
    new RegExp(`^REEVE_OIDC_CONFIG: [^]*${problem}`),
  );
});
