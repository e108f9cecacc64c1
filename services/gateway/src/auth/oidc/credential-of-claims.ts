import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Credential } from "@reeve/platform/rpc/principal";
import { subjectName, tenantName } from "../names.ts";
import type { OidcConfig } from "./oidc-config.ts";

/** How many groups a refusal lists. */
const maxListed = 10;

/** The claims whose text is a list, separated by spaces. A group of any other claim may contain spaces. */
const scopeClaims: ReadonlySet<string> = new Set(["scope", "scp"]);

type Claims = Readonly<Record<string, unknown>>;

/**
 * Returns whom the verified claims of a token stand for. Throws a Failure of kind `denied`, which says what is missing, if
 * they name no tenant or no subject, or if no group has a role.
 */
export function credentialOfClaims(claims: Claims, config: OidcConfig): Credential {
  const subject = subjectOf(claims, config);
  const tenant = tenantOf(claims, config, subject);
  const groups = groupsOf(claims, config);
  const roles = new Set(groups.flatMap((group) => config.roles.get(group) ?? []));
  if (roles.size > 0) return { tenant, subject, roles, kind: "oidc", groups };
  const listed = groups.slice(0, maxListed).map(quoted).join(", ");
  const has =
    groups.length === 0
      ? `the token has no groups in the claim ${nameOf(config.groups_claim)}`
      : `no group of the token has a role: ${listed}${groups.length > maxListed ? ", …" : ""}`;
  throw denied(
    `${subject} of tenant ${tenant} has no role: ${has}; join a group that \`roles\` of REEVE_OIDC_CONFIG names, or let an operator add one`,
    { tenant, subject },
  );
}

function subjectOf(claims: Claims, { subject_claim: claim }: OidcConfig): string {
  const subject = valueAt(claims, claim);
  if (typeof subject === "string" && subjectName.test(subject)) return subject;
  throw denied(
    `the token names no subject: ${problemOf(claim, subject)}; it must have 1 to 128 characters without spaces, slashes, and commas; choose another claim as \`subject_claim\` of REEVE_OIDC_CONFIG`,
  );
}

function tenantOf(claims: Claims, { tenant }: OidcConfig, subject: string): string {
  if (typeof tenant === "string") return tenant;
  const found = valueAt(claims, tenant.claim);
  if (typeof found === "string" && tenantName.test(found)) return found;
  throw denied(
    `the token of ${subject} names no tenant: ${problemOf(tenant.claim, found)}; it must have 1 to 63 characters of a-z, 0-9, and -; let the provider set it, or choose another \`tenant\` in REEVE_OIDC_CONFIG`,
  );
}

function groupsOf(claims: Claims, { groups_claim: claim }: OidcConfig): readonly string[] {
  const found = valueAt(claims, claim);
  if (Array.isArray(found)) return found.filter((group) => typeof group === "string");
  if (typeof found !== "string") return [];
  return scopeClaims.has(claim.at(-1) ?? "") ? found.split(" ").filter(Boolean) : [found];
}

function valueAt(claims: Claims, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = (value as Claims)[name];
  }
  return value;
}

function problemOf(claim: readonly string[], value: unknown): string {
  return value === undefined
    ? `the claim ${nameOf(claim)} is missing`
    : `the claim ${nameOf(claim)} is ${quoted(JSON.stringify(value))}`;
}

function nameOf(claim: readonly string[]): string {
  return quoted(claim.join("."));
}

/** The text of a token, at a length for messages. */
function quoted(text: string): string {
  return `\`${text.length > 100 ? `${text.slice(0, 100)}…` : text}\``;
}

function denied(message: string, metadata: Readonly<Record<string, string>> = {}): Failure {
  return new Failure("denied", ErrorReason.PERMISSION_DENIED, message, { metadata });
}
