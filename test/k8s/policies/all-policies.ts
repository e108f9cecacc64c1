import type { KubernetesObject } from "../support/kubernetes-object.ts";
import { schemaViolations } from "../support/check-schema.ts";
import { images, resources } from "./images-and-resources.ts";
import { jobs } from "./jobs.ts";
import { disruption, grace, probes, rollout } from "./life.ts";
import { natsUsers } from "./nats-users.ts";
import { defaultDeny, internet, networkSelectors, sandboxNetwork } from "./network.ts";
import { identity, podSecurity } from "./pod-security.ts";
import { routes } from "./routes.ts";
import { queues, replicas } from "./scaling.ts";
import { selectors } from "./selectors.ts";
import { secrets, settings } from "./settings.ts";

/** Returns the violations in the objects of one deployment, as sentences. */
export type Policy = (objects: readonly KubernetesObject[]) => readonly string[];

/** All checks of a deployment's objects. */
export const policies = {
  schema: schemaViolations,
  podSecurity,
  identity,
  images,
  resources,
  probes,
  grace,
  rollout,
  disruption,
  jobs,
  defaultDeny,
  networkSelectors,
  internet,
  sandboxNetwork,
  selectors,
  replicas,
  queues,
  settings,
  secrets,
  natsUsers,
  routes,
} satisfies Readonly<Record<string, Policy>>;
