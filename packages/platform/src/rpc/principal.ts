import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { ContextValues, HandlerContext } from "@connectrpc/connect";
import { createContextKey } from "@connectrpc/connect";
import type { Role } from "@reeve/contracts/access/role";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";
import { counter } from "../telemetry/metrics.ts";
import type { PeerCertificate } from "../tls/peer-certificate.ts";
import type { Credentials } from "./credentials/bearer-tokens.ts";
import { bearerTokenOf, tokenId } from "./credentials/bearer-tokens.ts";
import type { ClientCertificates } from "./credentials/client-certificates.ts";
import { agreed, peerOf } from "./credentials/client-certificates.ts";
import { addressGroup } from "./http/address-group.ts";
import { clientAddressOf } from "./http/client-address.ts";
import type { Credential, CredentialKind, Grant, Principal } from "./credential.ts";
import { membershipsOf } from "./credential.ts";
import { permits, requireRole } from "./roles.ts";

export type { Credential, CredentialKind, Grant, Principal } from "./credential.ts";

/** A principal with its groups, and `role:NAME` for each of its roles. */
export interface Member extends Principal {
  readonly groups: ReadonlySet<string>;
}

/** Who sent a request, and with what. */
export interface Caller extends Credential {
  readonly kind: CredentialKind;
  /** Identifies the token, see `tokenId`, or the certificate. */
  readonly tokenId: string;
}

const principalKey = createContextKey<Principal | undefined>(undefined, {
  description: "principal",
});

const callerKey = createContextKey<Caller | undefined>(undefined, { description: "caller" });

const refusals = counter({
  name: "reeve_refused_credentials_total",
  help: "Requests that were refused for their credential: missing, unknown, without the role of the method, a refused certificate, or unavailable: the identity provider could not be asked.",
  labels: ["why"],
});

const groupsKey = createContextKey<readonly string[]>([], { description: "groups" });

const membershipsKey = createContextKey<ReadonlySet<string> | undefined>(undefined, {
  description: "memberships",
});

const rolesKey = createContextKey<ReadonlySet<Role>>(new Set(), { description: "roles" });

const recheckKey = createContextKey<(() => void) | undefined>(undefined, {
  description: "recheck",
});

const permitsKey = createContextKey<((method: DescMethod) => boolean) | undefined>(undefined, {
  description: "permits",
});

/** Services that need no credential, because they reveal nothing about tenants. */
const open: ReadonlySet<string> = new Set([
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
]);

/** Whether a service needs no credential. */
export function isOpenService({ typeName }: DescService): boolean {
  return open.has(typeName);
}

/** Sets the principal of a request for its handler. Only functions that authenticate call this. */
export function setPrincipal(values: ContextValues, principal: Principal): void {
  values.set(principalKey, principal);
}

/**
 * Sets the principal of a request from its headers, before anything of its body is read. Throws a Failure if the caller is
 * refused.
 */
export type Authenticate = (
  context: Pick<HandlerContext, "service" | "method" | "requestHeader" | "values">,
) => void | Promise<void>;

/**
 * Accepts a request only with a bearer token of `credentials`, or a certificate of `certificates`, whose roles permit the
 * method, and passes its principal to the handler. A token and a certificate must stand for the same subject, and then permit
 * what both do. `recheck` repeats this while a stream lasts.
 */
export function authenticate(
  credentials: Credentials,
  certificates?: ClientCertificates,
): Authenticate {
  // So that an alert sees the first ones too.
  refusals.inc({ why: "unknown" }, 0);
  return async ({ service, method, requestHeader, values }) => {
    if (isOpenService(service)) return;
    const token = bearerTokenOf(requestHeader);
    const network = addressGroup(clientAddressOf(values));
    const given = token === undefined ? undefined : { token, network };
    const peer = peerOf(values);
    const id = token === undefined ? (peer?.id ?? "") : tokenId(token);
    const current = await acceptCredential({ credentials, certificates }, given, peer);
    const admit = (): Credential => {
      const { tenant, subject, roles, kind = "token", groups = [] } = current();
      // Before the role is checked: a refused caller is known too.
      values.set(callerKey, { tenant, subject, roles, kind, tokenId: id });
      try {
        requireRole(method, { tenant, subject }, roles);
      } catch (error) {
        throw refused("role", error);
      }
      return { tenant, subject, roles, groups };
    };
    const admitted = admit();
    setPrincipal(values, { tenant: admitted.tenant, subject: admitted.subject });
    values.set(rolesKey, admitted.roles);
    values.set(groupsKey, admitted.groups ?? []);
    values.set(recheckKey, () => {
      const { tenant, subject } = admit();
      if (tenant !== admitted.tenant || subject !== admitted.subject) throw unknownToken();
    });
    values.set(permitsKey, (other) => permits(other, current().roles));
  };
}

/** A token, and the network from which it came. */
interface GivenToken {
  readonly token: string;
  readonly network: string;
}

interface Accepted {
  readonly credentials: Credentials;
  readonly certificates: ClientCertificates | undefined;
}

/** Returns a function that returns the credential of a request at each moment, or throws the Failure of its refusal. */
async function acceptCredential(
  { credentials, certificates }: Accepted,
  given: GivenToken | undefined,
  peer: PeerCertificate | undefined,
): Promise<() => Credential> {
  const grant = certificates?.accept(peer);
  const byCertificate = () => counted(() => grant?.());
  // Before the token: a connection with a refused certificate learns nothing about tokens.
  if (byCertificate() === undefined && given === undefined) throw refused("missing", missing(peer));
  const byToken = given && (await grantOf(credentials, given));
  return () => {
    const own = byCertificate();
    if (byToken === undefined) {
      if (own === undefined) throw refused("missing", missing(peer));
      return own;
    }
    const ofToken = byToken();
    if (ofToken === undefined) throw refused("unknown", unknownToken());
    return own === undefined ? ofToken : counted(() => agreed(own, ofToken));
  };
}

/** Counts the refusal of a certificate. */
function counted<Value>(check: () => Value): Value {
  try {
    return check();
  } catch (error) {
    throw refused("certificate", error);
  }
}

function missing(peer: PeerCertificate | undefined): Failure {
  const message = "no bearer token: send the header `authorization: Bearer <token>`";
  if (peer === undefined) return unauthenticated(message);
  const names = peer.names.length === 0 ? "has no names" : `has the names ${peer.names.join(", ")}`;
  return unauthenticated(
    `${message}; the certificate of the connection ${names}, and stands for nobody here`,
  );
}

async function grantOf(credentials: Credentials, { token, network }: GivenToken): Promise<Grant> {
  let grant: Grant | undefined;
  try {
    grant = await credentials.accept(token, network);
  } catch (error) {
    throw refused(whyOf(error), error);
  }
  if (grant === undefined) throw refused("unknown", unknownToken());
  return grant;
}

/** Counts a refusal, and returns its error. */
function refused(
  why: "missing" | "unknown" | "role" | "unavailable" | "certificate",
  error: unknown,
): unknown {
  refusals.inc({ why });
  return error;
}

function whyOf(error: unknown): "unknown" | "role" | "unavailable" {
  const kind = error instanceof Failure ? error.kind : "unavailable";
  return kind === "unauthenticated" ? "unknown" : kind === "denied" ? "role" : "unavailable";
}

function unknownToken(): Failure {
  return unauthenticated(
    "unknown bearer token: it was never valid, was revoked, or has expired; use one of the tokens that the gateway is configured with",
  );
}

function unauthenticated(message: string): Failure {
  return new Failure("unauthenticated", ErrorReason.UNAUTHENTICATED, message);
}

/** Whether the caller of a request may call another method too. True if the server has no roles. */
export function mayCall({ values }: Pick<HandlerContext, "values">, method: DescMethod): boolean {
  return values.get(permitsKey)?.(method) ?? true;
}

/** Throws a Failure if the credential of a request that was accepted would be refused now. */
export function recheck(values: ContextValues): void {
  values.get(recheckKey)?.();
}

/** Adds to what `recheck` checks for a request that was accepted. */
export function addRecheck(values: ContextValues, check: () => void): void {
  const before = values.get(recheckKey);
  values.set(recheckKey, () => {
    before?.();
    check();
  });
}

/** Returns who sent a request, even if the role forbids it. Undefined: the caller is not authenticated. */
export function callerOf(values: ContextValues): Caller | undefined {
  return values.get(callerKey);
}

/** Returns the principal of a request. Throws if the server does not authenticate. */
export function principalOf(context: Pick<HandlerContext, "values">): Principal {
  const principal = context.values.get(principalKey);
  if (principal === undefined) throw new Error("the server does not authenticate");
  return principal;
}

/** Returns the principal of a request with the roles and groups of its credential. Throws if the server does not authenticate. */
export function credentialOf(
  context: Pick<HandlerContext, "values">,
): Required<Omit<Credential, "kind">> {
  const { values } = context;
  return { ...principalOf(context), roles: values.get(rolesKey), groups: values.get(groupsKey) };
}

/** Sets the groups and roles with which another Reeve service sent a request. */
export function setMemberships(values: ContextValues, memberships: ReadonlySet<string>): void {
  values.set(membershipsKey, memberships);
}

/** Returns the principal of a request, with its groups, and `role:NAME` for each of its roles. */
export function memberOf(context: Pick<HandlerContext, "values">): Member {
  const { values } = context;
  const groups =
    values.get(membershipsKey) ??
    membershipsOf({ roles: values.get(rolesKey), groups: values.get(groupsKey) });
  return { ...principalOf(context), groups };
}

/** Returns the tenant that a request counts for, or "" if it needs no credential. */
export function ownerOf(values: ContextValues): string {
  return values.get(principalKey)?.tenant ?? "";
}
