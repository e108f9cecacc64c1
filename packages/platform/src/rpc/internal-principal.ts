import { createHash, timingSafeEqual } from "node:crypto";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import type { Authenticate, Principal } from "./principal.ts";
import { isOpenService, setMemberships, setPrincipal } from "./principal.ts";

/** The headers that carry the principal between Reeve's own services. */
const tenantHeader = "reeve-tenant";
const subjectHeader = "reeve-subject";
const groupsHeader = "reeve-groups";

/** How many groups a call carries, and their size in its header: servers refuse larger headers without a reason. */
const maxGroups = 500;
const maxGroupsBytes = 16_384;

/**
 * Returns the headers of a call to another Reeve service on behalf of `principal`. Throws a Failure of kind `precondition` if it is in
 * more groups than they can carry: without some of them, the other service would decide on a part of what it is.
 */
export function principalHeaders(
  { tenant, subject, groups }: Principal & { readonly groups?: ReadonlySet<string> },
  internalToken: string | undefined,
): Record<string, string> {
  const names = namesOf(groups);
  if (!carriesGroups(groups)) throw tooManyGroups(subject, groups?.size ?? 0);
  return {
    ...(names !== "" && { [groupsHeader]: names }),
    [tenantHeader]: tenant,
    [subjectHeader]: encodeURIComponent(subject),
    ...(internalToken !== undefined && { authorization: `Bearer ${internalToken}` }),
  };
}

/** Whether a call to another Reeve service can carry these groups. */
export function carriesGroups(groups: ReadonlySet<string> | undefined): boolean {
  return (groups?.size ?? 0) <= maxGroups && namesOf(groups).length <= maxGroupsBytes;
}

/**
 * Authenticates Reeve's own services by their shared token, and takes the principal from the request's headers.
 */
export function authenticateInternally(internalToken: string): Authenticate {
  return ({ service, requestHeader, values }) => {
    if (isOpenService(service)) return;
    const given = requestHeader.get("authorization") ?? "";
    if (!isEqual(given, `Bearer ${internalToken}`)) {
      const message =
        "the internal token is missing or wrong: this port serves Reeve's own services; call the gateway instead";
      throw new Failure("unauthenticated", ErrorReason.UNAUTHENTICATED, message);
    }
    const tenant = requestHeader.get(tenantHeader) ?? "";
    const subject = decoded(requestHeader.get(subjectHeader) ?? "");
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(tenant) || subject === "") {
      const message = `the headers ${tenantHeader} and ${subjectHeader} are missing or malformed; send the principal of the call in them`;
      throw new Failure("unauthenticated", ErrorReason.UNAUTHENTICATED, message);
    }
    setPrincipal(values, { tenant, subject });
    const groups = (requestHeader.get(groupsHeader) ?? "").split(",").map((name) => name.trim());
    setMemberships(values, new Set(groups.map(decoded).filter((name) => name !== "")));
  };
}

function namesOf(groups: ReadonlySet<string> | undefined): string {
  return [...(groups ?? [])].map(encodeURIComponent).join(",");
}

function tooManyGroups(subject: string, count: number): Failure {
  return new Failure(
    "precondition",
    ErrorReason.TOO_LARGE,
    `the credential of ${subject} names ${count} groups, which are more than ${maxGroups}, or longer than ${maxGroupsBytes} bytes in all; let the identity provider name only the groups that Reeve needs`,
  );
}

/** Decodes a percent-encoded text. Returns "" if it is malformed. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
