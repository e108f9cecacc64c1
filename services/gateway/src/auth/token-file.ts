import type { Credential } from "@reeve/platform/rpc/principal";
import { allRoles, roleName } from "@reeve/platform/rpc/roles";
import { rolesNamed } from "./token-list.ts";

/** A token of a token file. */
export interface StoredToken extends Credential {
  /** The time after which the token is refused, in milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number;
}

const linePattern =
  /^sha256:(?<digest>[0-9a-f]{64})\s+(?<tenant>[a-z0-9][a-z0-9-]{0,62})\/(?<subject>[^\s/,]{1,128})\/(?<roles>[^\s/,]+)(?:\s+until=(?<until>\S+))?$/;

/** ISO 8601 with the offset of its zone: a time without one means something else on each machine. */
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Parses a token file. Each line is `sha256:DIGEST tenant/subject/role+role [until=TIME]`, with the SHA-256 of the token in
 * lowercase hexadecimal and an ISO 8601 time with its zone; empty lines and lines that start with `#` are ignored. Returns the tokens by
 * digest. Throws an Error that names the line of the first mistake.
 */
export function parseTokenFile(text: string): ReadonlyMap<string, StoredToken> {
  const tokens = new Map<string, StoredToken>();
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const where = `line ${index + 1}`;
    const { digest, tenant, subject, roles: names, until } = linePattern.exec(line)?.groups ?? {};
    if (digest === undefined || tenant === undefined || subject === undefined) {
      throw new Error(
        `${where} is not \`sha256:DIGEST tenant/subject/role+role [until=TIME]\`; \`reeve tokens create\` prints such lines`,
      );
    }
    const roles = rolesNamed(names ?? "");
    if (roles === undefined) {
      const known = [...allRoles].map(roleName).join(", ");
      throw new Error(`${where} has an unknown role; the roles are ${known}`);
    }
    if (tokens.has(digest)) throw new Error(`${where} has the same token as a line before it`);
    tokens.set(digest, { tenant, subject, roles, ...expiryOf(until, where) });
  }
  return tokens;
}

function expiryOf(until: string | undefined, where: string): Pick<StoredToken, "expiresAt"> {
  if (until === undefined) return {};
  const expiresAt = timePattern.test(until) ? Date.parse(until) : Number.NaN;
  if (Number.isNaN(expiresAt) || !isDate(until.slice(0, 10))) {
    throw new Error(`${where} has the time \`${until}\`; write it as 2030-01-31T00:00:00Z`);
  }
  return { expiresAt };
}

/** Whether a month has a day, such as `2030-01-31`: `Date.parse` accepts 30 February as a day in March. */
function isDate(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
