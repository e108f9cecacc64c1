import { operator, userNames } from "@reeve/jetstream/access/server-users";
import type { KubernetesObject } from "../support/kubernetes-object.ts";
import { isNamed } from "../support/kubernetes-object.ts";
import type { Workload } from "../support/manifests.ts";
import { ofKind, valueOf, workloadsOf } from "../support/manifests.ts";
import { programNameOf } from "../support/services.ts";

/**
 * Each program connects to NATS as its own user, with the password from the secret of that user. A NATS server of the deployment
 * has all users, and their passwords from the same secrets.
 */
export function natsUsers(objects: readonly KubernetesObject[]): readonly string[] {
  const configs = ofKind(objects, "ConfigMap").flatMap(({ data = {} }) => Object.values(data));
  return workloadsOf(objects).flatMap((workload) => {
    const { name, object } = workload;
    const program = programNameOf(workload);
    if (program !== undefined) {
      const user = program === "provision" ? operator : program;
      const isOwn = valueOf(workload, "REEVE_NATS_USER") === user;
      return [
        ...(isOwn ? [] : [`${name} does not connect to NATS as ${user}`]),
        ...wrongPassword(workload, "REEVE_NATS_PASSWORD", user),
      ];
    }
    if (object.metadata.name !== "nats") return [];
    return userNames.flatMap((user) => {
      const variable = `REEVE_NATS_${user.toUpperCase()}_PASSWORD`;
      const isKnown = configs.some((text) =>
        text.includes(`user: ${user}, password: $${variable}`),
      );
      return [
        ...(isKnown ? [] : [`${name} has no user ${user}`]),
        ...wrongPassword(workload, variable, user),
      ];
    });
  });
}

function wrongPassword({ name, containers }: Workload, variable: string, user: string) {
  const given = containers.flatMap(({ env = [] }) => env).find((each) => each.name === variable);
  const { name: secret = "", key, optional } = given?.valueFrom?.secretKeyRef ?? {};
  const isOf = isNamed({ metadata: { name: secret } }, `reeve-nats-${user}`) && key === "password";
  if (isOf && optional !== true) return [];
  return [`${name} does not take ${variable} from secret reeve-nats-${user}`];
}
