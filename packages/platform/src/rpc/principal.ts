import { createHash } from "node:crypto";
import type { DescService } from "@bufbuild/protobuf";
import type { ContextValues, HandlerContext, Interceptor } from "@connectrpc/connect";
import { createContextKey } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "../failure.ts";

/** Who asks: what the credential says, never what the request says. */
export interface Principal {
  readonly tenant: string;
  /** Name of the person or program, unique in the tenant. */
  readonly subject: string;
}

const principalKey = createContextKey<Principal | undefined>(undefined, {
  description: "principal",
});

/** Services that need no credential: they tell nothing about tenants. */
const open: ReadonlySet<string> = new Set([
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
]);

/** Whether a service needs no credential. */
export function isOpenService({ typeName }: DescService): boolean {
  return open.has(typeName);
}

/** Tells the handler of a request who asks; for interceptors that authenticate. */
export function setPrincipal(values: ContextValues, principal: Principal): void {
  values.set(principalKey, principal);
}

/** Lets a request pass only with a bearer token of `tokens`, and gives its handler the principal. */
export function authenticate(tokens: ReadonlyMap<string, Principal>): Interceptor {
  // Looked up by digest, so that the time of a look-up says nothing about how much of a token was right.
  const principals = new Map([...tokens].map(([token, principal]) => [digest(token), principal]));
  return (next) => async (request) => {
    if (isOpenService(request.service)) return await next(request);
    const [, token] = /^bearer\s+(\S+)$/i.exec(request.header.get("authorization") ?? "") ?? [];
    const principal = token === undefined ? undefined : principals.get(digest(token));
    if (principal === undefined) {
      const message =
        token === undefined
          ? "no bearer token: send the header `authorization: Bearer <token>`"
          : "the bearer token is not known";
      throw new Failure("unauthenticated", ErrorReason.UNAUTHENTICATED, message);
    }
    setPrincipal(request.contextValues, principal);
    return await next(request);
  };
}

/** The principal of a request. Throws when the server does not authenticate: a mistake in its wiring. */
export function principalOf(context: Pick<HandlerContext, "values">): Principal {
  const principal = context.values.get(principalKey);
  if (principal === undefined) throw new Error("the server authenticates nobody");
  return principal;
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
