import { createHash } from "node:crypto";
import type { DescService } from "@bufbuild/protobuf";
import type { ContextValues, HandlerContext, Interceptor } from "@connectrpc/connect";
import { createContextKey } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";

/** The authenticated caller: taken from the credential, never from the request. */
export interface Principal {
  readonly tenant: string;
  /** The name of the person or program, unique in the tenant. */
  readonly subject: string;
}

const principalKey = createContextKey<Principal | undefined>(undefined, {
  description: "principal",
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

/** Sets the principal of a request for its handler. Only interceptors that authenticate call this. */
export function setPrincipal(values: ContextValues, principal: Principal): void {
  values.set(principalKey, principal);
}

/** Accepts a request only with a bearer token of `tokens`, and passes the token's principal to the handler. */
export function authenticate(tokens: ReadonlyMap<string, Principal>): Interceptor {
  // Looked up by digest, so that the duration reveals nothing about how much of a token is right.
  const principals = new Map([...tokens].map(([token, principal]) => [digest(token), principal]));
  return (next) => async (request) => {
    if (isOpenService(request.service)) return await next(request);
    const [, token] = /^bearer\s+(\S+)$/i.exec(request.header.get("authorization") ?? "") ?? [];
    const principal = token === undefined ? undefined : principals.get(digest(token));
    if (principal === undefined) {
      const message =
        token === undefined
          ? "no bearer token: send the header `authorization: Bearer <token>`"
          : "unknown bearer token: use one of the tokens that the gateway is configured with";
      throw new Failure("unauthenticated", ErrorReason.UNAUTHENTICATED, message);
    }
    setPrincipal(request.contextValues, principal);
    return await next(request);
  };
}

/** Returns the principal of a request. Throws if the server has no interceptor that authenticates. */
export function principalOf(context: Pick<HandlerContext, "values">): Principal {
  const principal = context.values.get(principalKey);
  if (principal === undefined) throw new Error("the server has no authentication interceptor");
  return principal;
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
