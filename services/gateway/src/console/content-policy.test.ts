import { expect, test } from "vitest";
import { oidcConfig } from "../auth/oidc/oidc-config.ts";
import { contentPolicy } from "./content-policy.ts";

const issuer = "https://id.example.com/realms/a";

test.each<[object, string]>([
  [{}, "connect-src 'self' https://id.example.com;"],
  [
    { connect_origins: ["https://oauth2.example.com/token", "https://id.example.com"] },
    "connect-src 'self' https://id.example.com https://oauth2.example.com;",
  ],
])("the page may send requests to the provider, with %j", (more, expected) => {
  const { console } = oidcConfig.parse({
    issuer,
    audience: "reeve",
    tenant: "acme",
    roles: { all: ["viewer"] },
    console: { client_id: "reeve-console", ...more },
  });
  const connectOrigins = console?.connect_origins ?? [];
  expect(contentPolicy({ issuer, connectOrigins })).toContain(expected);
});

test("a page without a provider sends requests to the gateway alone", () => {
  expect(contentPolicy(undefined)).toContain("connect-src 'self';");
});
