import type { Role } from "@reeve/contracts/access/role";
import type { Credential } from "@reeve/platform/rpc/principal";
import { allRoles, roleName, roleNamed } from "@reeve/platform/rpc/roles";
import { z } from "zod";

const entryPattern =
  /^(?<token>[^=\s]{8,})=(?<tenant>[a-z0-9][a-z0-9-]{0,62})\/(?<subject>[^\s/,]{1,128})(?:\/(?<roles>[^\s/,]+))?$/;

/**
 * A comma-separated list of `token=tenant/subject` or `token=tenant/subject/role+role`. A token without roles has all of
 * them. Messages about invalid entries do not quote them, because they contain secrets.
 */
export const tokenList = z.string().transform((text, context): ReadonlyMap<string, Credential> => {
  const credentials = new Map<string, Credential>();
  for (const entry of text.split(",").map((part) => part.trim())) {
    if (entry === "") continue;
    const { token, tenant, subject, roles: names } = entryPattern.exec(entry)?.groups ?? {};
    if (token === undefined || tenant === undefined || subject === undefined) {
      context.addIssue(
        "has an entry that is not token=tenant/subject or token=tenant/subject/role+role with a token of at least 8 characters",
      );
      return z.NEVER;
    }
    const roles = names === undefined ? allRoles : rolesNamed(names);
    if (roles === undefined) {
      const known = [...allRoles].map(roleName).join(", ");
      context.addIssue(`gives ${subject} of ${tenant} an unknown role; the roles are ${known}`);
      return z.NEVER;
    }
    credentials.set(token, { tenant, subject, roles });
  }
  return credentials;
});

/** Returns the roles of a list such as `runner+approver`, or undefined if one is unknown. */
export function rolesNamed(names: string): ReadonlySet<Role> | undefined {
  const roles = new Set<Role>();
  for (const name of names.split("+")) {
    const role = roleNamed(name);
    if (role === undefined) return undefined;
    roles.add(role);
  }
  return roles;
}
