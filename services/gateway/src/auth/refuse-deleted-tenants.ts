import { isTenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import { payloadCipherOf } from "@reeve/jetstream/sealing/payload-cipher";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Authenticate } from "@reeve/platform/rpc/principal";
import { callerOf } from "@reeve/platform/rpc/principal";

/**
 * Returns `authenticate` as a function that refuses the callers of a tenant whose key was deleted, with the reason TENANT_KEY_DELETED.
 * Lists and caches may still have what was read before.
 */
export function refuseDeletedTenants(
  authenticate: Authenticate,
  { connection }: Pick<Nats, "connection">,
): Authenticate {
  const cipher = payloadCipherOf(connection);
  if (!cipher.isOn) return authenticate;
  return async (context) => {
    await authenticate(context);
    const caller = callerOf(context.values);
    if (caller === undefined) return;
    await cipher.key(caller.tenant, undefined, neverAborts).catch((error: unknown) => {
      // Whatever needs the key fails by itself while it is not available.
      if (isTenantKeyDeleted(error)) throw error;
    });
  };
}
