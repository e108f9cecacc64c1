import type { ServiceImpl } from "@connectrpc/connect";
import type { AccessService } from "@reeve/contracts/access";
import { credentialOf } from "@reeve/platform/rpc/principal";

/** Returns the handlers of AccessService. */
export function accessService(): ServiceImpl<typeof AccessService> {
  return {
    getCaller: (_, context) => {
      const { tenant, subject, roles, groups } = credentialOf(context);
      return {
        tenant,
        subject,
        groups: groups.toSorted(),
        roles: [...roles].toSorted((a, b) => a - b),
      };
    },
  };
}
