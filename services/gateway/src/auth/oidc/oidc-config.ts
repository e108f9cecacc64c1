import { readJsonConfig } from "@reeve/platform/process/json-config";
import { secureUrl } from "@reeve/platform/oidc/discovery";
import { allRoles, roleName, roleNamed } from "@reeve/platform/rpc/roles";
import { z } from "zod";
import { tenantName } from "../names.ts";

/** The name of a claim, or the path to it through objects, such as `["realm_access", "roles"]`. */
const claim = z
  .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
  .transform((names): readonly string[] => (typeof names === "string" ? [names] : names));

/** Only asymmetric ones: with a symmetric one, everybody who can verify a token can forge one. */
const algorithm = z.enum([
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
]);

const role = z.string().transform((name, context) => {
  const found = roleNamed(name);
  if (found !== undefined) return found;
  const known = [...allRoles].map(roleName).join(", ");
  context.addIssue(`is not a role; the roles are ${known}`);
  return z.NEVER;
});

export const oidcConfig = z.strictObject({
  /** The `iss` of accepted tokens, exactly as the provider writes it. */
  issuer: secureUrl,
  /** The `aud` of accepted tokens: the name by which the provider knows this deployment. */
  audience: z.string().min(1),
  /** Where the keys of the provider are. Default: as its discovery document says. */
  jwks_uri: secureUrl.optional(),
  algorithms: z.array(algorithm).min(1).default(["RS256", "PS256", "ES256", "EdDSA"]),
  /** How far the clocks of the provider and of this machine may differ. */
  clock_skew_seconds: z.number().min(0).max(300).default(30),
  /** The tenant of all tokens, or the claim that has it. */
  tenant: z.union([
    z.string().regex(tenantName, "is not the name of a tenant: a-z, 0-9, and -, at most 63"),
    z.strictObject({ claim }),
  ]),
  subject_claim: claim.prefault("sub"),
  groups_claim: claim.prefault("groups"),
  /** The roles that each group gives. A token whose groups give none is refused. */
  roles: z
    .record(z.string(), z.array(role).min(1))
    .transform((roles) => new Map(Object.entries(roles)))
    .refine((roles) => roles.size > 0, "gives no group a role"),
  /** How people sign in to the console with the provider. Everybody may read it. Default: they cannot. */
  console: z
    .strictObject({
      /** A public client of the provider: a browser keeps no secret. */
      client_id: z.string().min(1),
      scope: z.string().min(1).default("openid"),
      /** Further parameters of the request, such as `audience` or `resource`, with which some providers choose the audience. */
      parameters: z.record(z.string().min(1), z.string()).default({}),
      /** Where the page may send requests beside the issuer: providers may have their token endpoint elsewhere. */
      connect_origins: z.array(secureUrl.transform((url) => new URL(url).origin)).default([]),
    })
    .optional(),
});

/** How tokens of an OpenID Connect provider are checked, and whom they stand for. */
export type OidcConfig = z.infer<typeof oidcConfig>;

/** Reads the file that REEVE_OIDC_CONFIG names. Throws a Failure with all its problems. */
export async function readOidcConfig(path: string): Promise<OidcConfig> {
  return await readJsonConfig("REEVE_OIDC_CONFIG", path, oidcConfig);
}
