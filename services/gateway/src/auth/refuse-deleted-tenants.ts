import { isTenantKeyDeleted } from "@reeve/jetstream/sealing/key-failures";
import { payloadCipherOf } from "@reeve/jetstream/sealing/payload-cipher";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import type { Failure } from "@reeve/platform/failure";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Authenticate } from "@reeve/platform/rpc/principal";
import { addRecheck, callerOf } from "@reeve/platform/rpc/principal";

/**
 * Returns `authenticate` as a function that refuses the callers of a tenant whose key was deleted, with the reason TENANT_KEY_DELETED, and
 * ends their open streams. Lists and caches may still have what was read before.
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
    let refusal: Failure | undefined;
    const ask = async () => {
      try {
        await cipher.key(caller.tenant, undefined, neverAborts);
      } catch (error) {
        // Whatever needs the key fails by itself while it is not available.
        if (isTenantKeyDeleted(error)) refusal = error;
      }
    };
    await ask();
    const assertNotDeleted = () => {
      if (refusal !== undefined) throw refusal;
    };
    assertNotDeleted();
    addRecheck(context.values, () => {
      assertNotDeleted();
      // The next message of the stream has the answer. A key that was asked for lately is known.
      void ask();
    });
  };
}
