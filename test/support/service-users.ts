import { permissionsOf, serviceNames } from "@reeve/jetstream/access/permissions";
import type { issueCredentials } from "@reeve/jetstream/access/server-users";
import type { Credentials } from "./cluster-server.ts";

/** Returns the services as users of a cluster, with their permissions. */
export function serviceUsers(
  credentials: ReturnType<typeof issueCredentials>,
): readonly Credentials[] {
  return serviceNames.map((name) => {
    const { publish, subscribe } = permissionsOf(name);
    const permissions = { publish: { allow: publish }, subscribe: { allow: subscribe } };
    const { user, pass: password } = credentials[name];
    return { user, password, permissions };
  });
}
