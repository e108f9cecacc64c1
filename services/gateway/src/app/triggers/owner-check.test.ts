import { create } from "@bufbuild/protobuf";
import { Role } from "@reeve/contracts/access/role";
import { TriggerOwnerSchema } from "@reeve/contracts/trigger";
import { expect, test } from "vitest";
import { ownerChecks } from "./owner-check.ts";

// Requirement: TRIG-3
test("an owner has the roles of the credential that made it the owner, as far as the settings still give them", () => {
  const settings = [
    { roles: new Set([Role.RUNNER, Role.VIEWER]) },
    { roles: new Set([Role.OPERATOR]) },
  ];
  const { check } = ownerChecks({ find: () => settings }, { now: () => 0 });
  const roles = [Role.RUNNER, Role.AUTHOR];
  const owner = create(TriggerOwnerSchema, { subject: "ann", credentialKind: "token", roles });
  expect(check("acme", owner)).toEqual({
    kind: "accepted",
    credential: { tenant: "acme", subject: "ann", roles: new Set([Role.RUNNER]) },
  });
  const author = { ...owner, roles: [Role.AUTHOR] };
  expect(check("acme", author)).toMatchObject({ kind: "missing" });
});
