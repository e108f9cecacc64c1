import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ListedCredentialSchema } from "@reeve/contracts/operations";
import { CredentialSource } from "@reeve/contracts/operations";
import { tokenId } from "@reeve/platform/rpc/credentials/bearer-tokens";
import type { Credential } from "@reeve/platform/rpc/principal";
import type { StoredPrincipal } from "./principal-lines.ts";

/** How many characters of a digest name a token, as in the audit trail. */
const idLength = 12;
const maxListed = 1_000;

type Listed = Exclude<
  MessageInitShape<typeof ListedCredentialSchema>,
  { readonly $typeName: string }
>;

/** The credentials that a gateway knows before anybody uses them. */
export interface KnownCredentials {
  /** By token. */
  readonly settings: ReadonlyMap<string, Credential>;
  /** By digest. */
  readonly tokenFile: () => ReadonlyMap<string, StoredPrincipal>;
  /** By name of the certificate. */
  readonly certificates: () => ReadonlyMap<string, StoredPrincipal>;
  readonly acceptsIdentityProvider: boolean;
}

/** Returns the credentials of a tenant by subject, without what they are accepted for. */
export function listCredentials(
  { settings, tokenFile, certificates }: KnownCredentials,
  tenant: string,
): readonly Listed[] {
  const { SETTING, TOKEN_FILE, CERTIFICATE } = CredentialSource;
  const all = [
    ...[...settings].map(([token, principal]) => ({
      principal,
      listed: { source: SETTING, credentialId: tokenId(token) },
    })),
    ...[...tokenFile()].map(([digest, principal]) => ({
      principal,
      listed: { source: TOKEN_FILE, credentialId: digest.slice(0, idLength) },
    })),
    ...[...certificates()].map(([certificateName, principal]) => ({
      principal,
      listed: { source: CERTIFICATE, certificateName },
    })),
  ];
  return all
    .filter(({ principal }) => principal.tenant === tenant)
    .map(({ principal, listed }) => ({
      ...listed,
      subject: principal.subject,
      roles: [...principal.roles].toSorted((a, b) => a - b),
      ...expiryOf(principal),
    }))
    .toSorted((one, other) => one.subject.localeCompare(other.subject))
    .slice(0, maxListed);
}

function expiryOf(principal: Credential | StoredPrincipal): Partial<Listed> {
  const expiresAt = "expiresAt" in principal ? principal.expiresAt : undefined;
  return expiresAt === undefined ? {} : { expiresAt: timestampFromMs(expiresAt) };
}
