import type { ServiceImpl } from "@connectrpc/connect";
import { Role } from "@reeve/contracts/access/role";
import type { IdentityService } from "@reeve/contracts/identity";
import { credentialOf } from "@reeve/platform/rpc/principal";

/** Returns the handlers of IdentityService. */
export function identityService(
  operatingTenant: string | undefined,
): ServiceImpl<typeof IdentityService> {
  return {
    getCaller: (_, context) => {
      const { tenant, subject, roles, groups } = credentialOf(context);
      return {
        tenant,
        subject,
        operatesDeployment: tenant === operatingTenant && roles.has(Role.OPERATOR),
        groups: groups.toSorted(),
        roles: [...roles].toSorted((a, b) => a - b),
      };
    },
  };
}
