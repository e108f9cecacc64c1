import type { Credential } from "@reeve/platform/rpc/principal";
import { allRoles, roleName } from "@reeve/platform/rpc/roles";
import { rolesNamed } from "./token-list.ts";

/** What a line of a file stands for. */
export interface StoredPrincipal extends Credential {
  /** The time after which the line is ignored, in milliseconds since the epoch. Default: never. */
  readonly expiresAt?: number;
}

export interface LineFormat {
  /** What each line starts with. Its only group is the key of the line. */
  readonly key: RegExp;
  /** What a line looks like, and how to get one, for messages. */
  readonly description: string;
}

const principalPattern =
  /^(?<tenant>[a-z0-9][a-z0-9-]{0,62})\/(?<subject>[^\s/,]{1,128})\/(?<roles>[^\s/,]+)(?:\s+until=(?<until>\S+))?$/;

/** ISO 8601 with the offset of its zone: a time without one means something else on each machine. */
const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Parses lines of the form `KEY tenant/subject/role+role [until=TIME]`, with an ISO 8601 time with its zone; empty lines and
 * lines that start with `#` are ignored. Returns the principals by key. Throws an Error that names the line of the first mistake.
 */
export function parsePrincipalLines(
  text: string,
  { key: keyPattern, description }: LineFormat,
): ReadonlyMap<string, StoredPrincipal> {
  const principals = new Map<string, StoredPrincipal>();
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const where = `line ${index + 1}`;
    const [, first = "", rest = ""] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    const [, key] = keyPattern.exec(first) ?? [];
    const { tenant, subject, roles: names, until } = principalPattern.exec(rest)?.groups ?? {};
    if (key === undefined || tenant === undefined || subject === undefined) {
      throw new Error(`${where} is not ${description}`);
    }
    const roles = rolesNamed(names ?? "");
    if (roles === undefined) {
      const known = [...allRoles].map(roleName).join(", ");
      throw new Error(`${where} has an unknown role; the roles are ${known}`);
    }
    if (principals.has(key))
      throw new Error(`${where} starts like a line before it; keep one of them`);
    principals.set(key, { tenant, subject, roles, ...expiryOf(until, where) });
  }
  return principals;
}

function expiryOf(until: string | undefined, where: string): Pick<StoredPrincipal, "expiresAt"> {
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
