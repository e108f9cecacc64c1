import { Role } from "@reeve/contracts/access/role";
import { allRoles } from "@reeve/platform/rpc/roles";
import { expect, test } from "vitest";
import { tokenList } from "./token-list.ts";

test("a token without roles has all of them", () => {
  expect(tokenList.parse("token-of-ada=acme/ada").get("token-of-ada")).toEqual({
    tenant: "acme",
    subject: "ada",
    roles: allRoles,
  });
});

test("a token has the roles that follow its subject", () => {
  const credentials = tokenList.parse(
    "token-of-ada=acme/ada/runner+approver, token-of-bob=acme/user:bob/viewer",
  );
  expect(credentials.get("token-of-ada")?.roles).toEqual(new Set([Role.RUNNER, Role.APPROVER]));
  expect(credentials.get("token-of-bob")).toMatchObject({ subject: "user:bob" });
});

test.each([
  ["token-of-ada=acme/ada/", "is not token=tenant/subject"],
  [
    "token-of-ada=acme/ada/admin",
    "gives ada of acme an unknown role; the roles are viewer, runner",
  ],
  ["token-of-ada=acme/ada/runner+", "gives ada of acme an unknown role"],
  ["token-of-ada=acme/ada/Viewer", "gives ada of acme an unknown role"],
  ["token-of-ada=acme/ada/viewer/runner", "is not token=tenant/subject"],
  ["short=acme/ada", "is not token=tenant/subject"],
])("%s is refused without quoting the token", (text, problem) => {
  const { error } = tokenList.safeParse(text);
  expect(error?.message).toContain(problem);
  expect(error?.message).not.toContain("token-of-ada");
});
