import { Role } from "@reeve/contracts/access/role";
import { CredentialSource } from "@reeve/contracts/operations";
import { tokenId } from "@reeve/platform/rpc/credentials/bearer-tokens";
import { expect, test } from "vitest";
import { listCredentials } from "./listed-credentials.ts";

const viewer: ReadonlySet<Role> = new Set([Role.VIEWER]);
const token = "a-token-with-more-than-32-characters";

test("lists the tokens of one tenant without their secrets", () => {
  const known = {
    settings: new Map([
      [token, { tenant: "acme", subject: "bob", roles: viewer }],
      ["token-of-others", { tenant: "globex", subject: "eve", roles: viewer }],
    ]),
    tokenFile: () =>
      new Map([
        ["0123456789abcdef", { tenant: "acme", subject: "ann", roles: viewer, expiresAt: 1_000 }],
      ]),
    certificates: () => new Map(),
    acceptsIdentityProvider: false,
  };
  const listed = listCredentials(known, "acme");
  expect(listed).toMatchObject([
    {
      subject: "ann",
      source: CredentialSource.TOKEN_FILE,
      credentialId: "0123456789ab",
      expiresAt: { seconds: 1n },
    },
    { subject: "bob", source: CredentialSource.SETTING, credentialId: tokenId(token) },
  ]);
  expect(
    JSON.stringify(listed, (_, value: unknown) => (typeof value === "bigint" ? "" : value)),
  ).not.toContain(token);
});
