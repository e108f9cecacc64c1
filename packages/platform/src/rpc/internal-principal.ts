import { createHash, timingSafeEqual } from "node:crypto";
import type { Interceptor } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import type { Principal } from "./principal.ts";
import { isOpenService, setPrincipal } from "./principal.ts";

/** Headers by which one of our services tells another who asks. */
const tenantHeader = "reeve-tenant";
const subjectHeader = "reeve-subject";

/** The headers of a call on behalf of `principal`. */
export function principalHeaders(
  { tenant, subject }: Principal,
  internalToken: string | undefined,
): Record<string, string> {
  return {
    [tenantHeader]: tenant,
    [subjectHeader]: encodeURIComponent(subject),
    ...(internalToken !== undefined && { authorization: `Bearer ${internalToken}` }),
  };
}

/**
 * Lets only our own services pass, which show the token that they share, and takes the principal from their headers.
 * Without a token everybody who reaches the port passes: for loopback only.
 */
export function authenticateInternally(internalToken: string | undefined): Interceptor {
  return (next) => async (request) => {
    if (isOpenService(request.service)) return await next(request);
    const given = request.header.get("authorization") ?? "";
    if (internalToken !== undefined && !isEqual(given, `Bearer ${internalToken}`)) {
      const message = "this port serves Reeve's own services; clients call the gateway";
      throw new Failure("unauthenticated", ErrorReason.UNAUTHENTICATED, message);
    }
    const tenant = request.header.get(tenantHeader) ?? "";
    const subject = decoded(request.header.get(subjectHeader) ?? "");
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(tenant) || subject === "") {
      const message = `the headers ${tenantHeader} and ${subjectHeader} say for whom a service calls`;
      throw new Failure("unauthenticated", ErrorReason.UNAUTHENTICATED, message);
    }
    setPrincipal(request.contextValues, { tenant, subject });
    return await next(request);
  };
}

/** Empty when it is no encoded text. */
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
