import { Role } from "@reeve/contracts/access/role";
import { tokenDigest } from "@reeve/platform/rpc/credentials/bearer-tokens";
import { expect, test } from "vitest";
import { parseTokenFile } from "./token-file.ts";

const ann = `sha256:${tokenDigest("token-of-ann")}`;

test("a line gives a token its tenant, subject, roles, and end", () => {
  const tokens = parseTokenFile(`
# people
${ann} acme/ann/runner+approver until=2030-01-31T00:00:00Z

sha256:${"0".repeat(64)} globex/bot/viewer
`);
  expect(tokens.get(tokenDigest("token-of-ann"))).toEqual({
    tenant: "acme",
    subject: "ann",
    roles: new Set([Role.RUNNER, Role.APPROVER]),
    expiresAt: Date.UTC(2030, 0, 31),
  });
  expect(tokens.get("0".repeat(64))).toEqual({
    tenant: "globex",
    subject: "bot",
    roles: new Set([Role.VIEWER]),
  });
});

test.each([
  [`${ann} acme/ann`, "line 1 is not `sha256:DIGEST"],
  ["token-of-ann acme/ann/viewer", "line 1 is not `sha256:DIGEST"],
  [`\n${ann} acme/ann/admin`, "line 2 has an unknown role; the roles are viewer, runner"],
  [`${ann} acme/ann/viewer until=tomorrow`, "line 1 has the time `tomorrow`"],
  [`${ann} acme/ann/viewer until=2030-01-31T00:00`, "line 1 has the time"],
  [`${ann} acme/ann/viewer until=2030-01-31`, "line 1 has the time"],
  [`${ann} acme/ann/viewer until=2030-02-30T00:00:00Z`, "line 1 has the time `2030-02-30T"],
  [`${ann} acme/ann/viewer until=3`, "line 1 has the time `3`"],
  [`${ann} acme/ann/viewer\n${ann} acme/bob/viewer`, "line 2 starts like a line before it"],
  [`${ann} acme/ann/viewer until=2030-01-31 x`, "line 1 is not"],
])("%j is refused with its line", (text, problem) => {
  expect(() => parseTokenFile(text)).toThrow(problem);
});
