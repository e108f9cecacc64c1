import type { DescMethod } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import type { GetCallerResponse } from "@reeve/contracts/identity";
import { IdentityService } from "@reeve/contracts/identity";
import { Role, RoleSchema, role as roleOption } from "@reeve/contracts/access/role";

/** Roles may change at any time. The gateway checks them with each request, so a stale answer only delays what is shown. */
const refreshMs = 30_000;

interface Access {
  /** Undefined: not known yet, or the gateway is older than this page. */
  readonly caller: GetCallerResponse | undefined;
  /** Returns why the caller may not call a method, or undefined if it may, or if the caller is not known. */
  readonly whyNot: (method: DescMethod, action?: string) => string | undefined;
}

/** Returns who has signed in, and what the roles permit. */
export function useAccess(): Access {
  const { data } = useQuery(
    IdentityService.method.getCaller,
    {},
    { staleTime: refreshMs, refetchInterval: refreshMs },
  );
  return {
    caller: data,
    whyNot: (method, action = "This") =>
      data === undefined ? undefined : refusalOf(method, action, data),
  };
}

function refusalOf(
  method: DescMethod,
  action: string,
  { roles }: GetCallerResponse,
): string | undefined {
  const needed = getOption(method, roleOption);
  if (needed === Role.VIEWER || roles.includes(needed)) return undefined;
  return `${action} needs the role ${roleName(needed)}. You have ${roles.map(roleName).join(", ")}.`;
}

export function roleName(role: Role): string {
  return RoleSchema.value[role]?.localName.toLowerCase() ?? `role ${role}`;
}
