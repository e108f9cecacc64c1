import type { ServiceImpl } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { OperationsService } from "@reeve/contracts/operations";
import { abortable } from "@reeve/platform/async/abortable";
import { Failure } from "@reeve/platform/failure";
import type { Principal } from "@reeve/platform/rpc/principal";
import { principalOf } from "@reeve/platform/rpc/principal";
import type { KnownCredentials } from "../auth/listed-credentials.ts";
import { listCredentials } from "../auth/listed-credentials.ts";
import type { Deployment } from "../operations/deployment.ts";
import { modelActivity } from "../operations/model-activity.ts";
import type { QuotaLimits } from "../quotas/quota-limits.ts";

export interface OperationsServiceOptions {
  readonly deployment: Pick<Deployment, "shownTo" | "workers">;
  readonly quotas: Pick<QuotaLimits, "of">;
  readonly credentials: KnownCredentials;
  /** The tenant whose operators operate the deployment. Default: none. */
  readonly operatingTenant: string | undefined;
}

/** Returns the handlers of OperationsService. */
export function operationsService({
  deployment,
  quotas,
  credentials,
  operatingTenant,
}: OperationsServiceOptions): ServiceImpl<typeof OperationsService> {
  const assertOperates = (principal: Principal) => {
    if (principal.tenant !== operatingTenant) throw denied(principal);
  };
  return {
    getDeployment: async (_, context) => {
      const principal = principalOf(context);
      assertOperates(principal);
      return await abortable(deployment.shownTo(principal.tenant), context.signal);
    },
    listModelActivity: async ({ allTenants }, context) => {
      const principal = principalOf(context);
      if (allTenants) assertOperates(principal);
      const workers = await abortable(deployment.workers(), context.signal);
      const { tenant } = principal;
      return { models: [...modelActivity(workers, { tenant, allTenants })] };
    },
    listQuotas: async (_, context) => ({
      limits: [...(await quotas.of(principalOf(context), context.signal))],
    }),
    listCredentials: (_, context) => ({
      credentials: [...listCredentials(credentials, principalOf(context).tenant)],
      acceptsIdentityProvider: credentials.acceptsIdentityProvider,
    }),
  };
}

function denied({ tenant, subject }: Principal): Failure {
  const message = `${subject} of tenant ${tenant} may not see the whole deployment, which all tenants share; name the tenant of its operators with the gateway's setting REEVE_AUDIT_TENANT`;
  return new Failure("denied", ErrorReason.PERMISSION_DENIED, message);
}
