import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

const tenantNames = /^(?!\.)[A-Za-z0-9._-]{1,128}$/;

/** Returns the name of a tenant that is used in a path. Throws a Failure if it could lead to the key of another one. */
export function checkedTenant(tenant: string): string {
  if (tenantNames.test(tenant)) return tenant;
  const problem = `"${tenant}" cannot be the name of a tenant`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
}
