import type { ServiceImpl } from "@connectrpc/connect";
import type { AuditService } from "@reeve/contracts/audit";
import { ErrorReason } from "@reeve/contracts/error";
import type { AuditReader } from "@reeve/jetstream/audit/port";
import { noTenant } from "@reeve/jetstream/audit/port";
import { Failure } from "@reeve/platform/failure";
import type { Principal } from "@reeve/platform/rpc/principal";
import { principalOf } from "@reeve/platform/rpc/principal";
import { listAuditEvents } from "../audit/list-audit-events.ts";

export interface AuditServiceOptions {
  /** Throws a Failure if the trail cannot be read. */
  readonly trail: () => AuditReader;
  /** The tenant that may read events without a tenant. Default: none. */
  readonly operatingTenant: string | undefined;
  /** Whether calls with an action only read. */
  readonly isRead: (action: string) => boolean;
}

/** Returns the handlers of AuditService. */
export function auditService({
  trail,
  operatingTenant,
  isRead,
}: AuditServiceOptions): ServiceImpl<typeof AuditService> {
  return {
    listAuditEvents: async (request, context) => {
      const principal = principalOf(context);
      if (request.withoutTenant && principal.tenant !== operatingTenant) throw denied(principal);
      const tenant = request.withoutTenant ? noTenant : principal.tenant;
      const page = await listAuditEvents(trail(), tenant, { request, isRead }, context.signal);
      return { events: [...page.items], nextPageToken: page.nextPageToken };
    },
  };
}

function denied({ tenant, subject }: Principal): Failure {
  const message = `${subject} of tenant ${tenant} may not list events without a tenant, which belong to the deployment; name the tenant of its operators with the gateway's setting REEVE_AUDIT_TENANT`;
  return new Failure("denied", ErrorReason.PERMISSION_DENIED, message);
}
