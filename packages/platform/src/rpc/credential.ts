import type { Role } from "@reeve/contracts/access/role";
import { roleName } from "./roles.ts";

/** The authenticated caller: taken from the credential, never from the request. */
export interface Principal {
  readonly tenant: string;
  /** The name of the person or program, unique in the tenant. */
  readonly subject: string;
}

/** What a credential is, and where a bearer token comes from. */
export type CredentialKind = "token" | "oidc" | "development" | "certificate";

/** What a bearer token or a certificate stands for. */
export interface Credential extends Principal {
  readonly roles: ReadonlySet<Role>;
  /** Default: `token`. */
  readonly kind?: CredentialKind;
  /** The groups that the identity provider names. Default: none. */
  readonly groups?: readonly string[];
}

/** Returns the groups of a credential, and `role:NAME` for each of its roles. A provider cannot name a role as a group. */
export function membershipsOf({
  roles,
  groups = [],
}: Pick<Credential, "roles" | "groups">): ReadonlySet<string> {
  const named = groups.filter((group) => !group.startsWith("role:"));
  return new Set([...named, ...[...roles].map((role) => `role:${roleName(role)}`)]);
}

/** Returns what an accepted token or certificate stands for at this moment, or undefined once it is revoked or has expired. */
export type Grant = () => Credential | undefined;
