import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubernetesObject } from "../support/kubernetes-object.ts";
import { isNamed, nameOf } from "../support/kubernetes-object.ts";
import { environmentOf } from "../support/environment.ts";
import { ofKind, workloadsOf } from "../support/manifests.ts";
import { programNameOf, programOf } from "../support/services.ts";

/** The key of a ConfigMap that only makes its hash depend on the image. It is no setting. */
const imageKey = "image";

/** Variables that Node reads. */
const variablesOfNode = new Set(["NODE_EXTRA_CA_CERTS"]);

/** Every program accepts its environment: the settings exist, none is missing, and each is valid. */
export function settings(objects: readonly KubernetesObject[]): readonly string[] {
  const configs = ofKind(objects, "ConfigMap").map(({ metadata }) => metadata.name);
  return workloadsOf(objects).flatMap((workload) => {
    const { name, containers } = workload;
    const isOurs = containers.some(({ name: container }) => container === "reeve");
    const program = programOf(workload);
    if (program === undefined) return isOurs ? [`${name} runs an unknown program`] : [];
    const given = environmentOf(objects, workload);
    const named = containers.flatMap(({ env = [] }) => env.map((variable) => variable.name));
    const unknown = [...named, ...Object.keys(given)].filter(
      (variable) =>
        variable !== imageKey &&
        !variablesOfNode.has(variable) &&
        !program.variables.includes(variable),
    );
    return [
      ...[...new Set(unknown)].map((variable) => `${name} has no setting ${variable}`),
      ...containers
        .flatMap(({ envFrom = [] }) => envFrom.map(({ configMapRef }) => configMapRef?.name ?? ""))
        .filter((config) => !configs.includes(config))
        .map((config) => `${name} reads ConfigMap ${config}, which does not exist`),
      ...problemsOf(() => program.read(given)).map((problem) => `${name}: ${problem}`),
    ];
  });
}

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** The programs that may read each secret; no program may read any other secret. */
const readers: Readonly<Record<string, readonly string[]>> = {
  "reeve-nats-operator": ["provision", "nats"],
  "reeve-nats-gateway": ["gateway", "nats"],
  "reeve-nats-runtime": ["runtime", "nats"],
  "reeve-nats-toolhost": ["toolhost", "nats"],
  "reeve-nats-approvals": ["approvals", "nats"],
  "reeve-tokens": ["gateway"],
  "reeve-internal": ["gateway", "approvals"],
  "reeve-tls": ["gateway", "approvals"],
  "reeve-models": ["runtime"],
  "reeve-receipts": ["gateway"],
  "reeve-temporal": ["runtime"],
};

const docs = readFileSync(join(import.meta.dirname, "../../../docs/deploy.md"), "utf8");
/** The keys of secrets that the deployment page documents. */
const documented = new Set(
  [...docs.matchAll(/^\| `([a-z-]+)` +\| `([\w.]+)` +\|/gm)].map(
    ([, secret, key]) => `${secret} ${key}`,
  ),
);

/** Secrets of which operators choose the keys, and who may read all of them. */
const wholeSecrets: Readonly<Record<string, string>> = {
  "reeve-notify": "approvals",
  "reeve-remotes": "runtime",
};

/** Only the programs that use a secret can read it, and each key is created here or documented for creation before the deployment. */
export function secrets(objects: readonly KubernetesObject[]): readonly string[] {
  const made = ofKind(objects, "Secret");
  return workloadsOf(objects).flatMap((workload) => {
    const { name, containers, pod } = workload;
    const reader = programNameOf(workload) ?? workload.object.metadata.name;
    const mounted = (pod.volumes ?? []).flatMap(({ secret }) => secret ?? []);
    const refs = [
      ...containers.flatMap(({ env = [] }) =>
        env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []),
      ),
      ...mounted.flatMap(({ secretName, items = [] }) =>
        items.map(({ key }) => ({ name: secretName, key })),
      ),
    ];
    const whole = [
      ...containers.flatMap(({ envFrom = [] }) => envFrom.map(({ secretRef }) => secretRef?.name)),
      ...mounted.filter(({ items }) => items === undefined).map(({ secretName }) => secretName),
    ].filter((secret) => secret !== undefined && wholeSecrets[secret] !== reader);
    return [
      ...whole.map((secret) => `${name} takes all keys of secret ${secret}`),
      ...refs.flatMap(({ name: secret = "", key }) => {
        const base =
          Object.keys(readers).find((known) => isNamed({ metadata: { name: secret } }, known)) ??
          "";
        const there = made.find((object) => nameOf(object) === `Secret ${secret}`);
        const isMade = there?.data?.[key] !== undefined;
        const isDocumented = secret === base && documented.has(`${secret} ${key}`);
        return [
          ...(readers[base]?.includes(reader) === true ? [] : [`${name} may not see ${secret}`]),
          ...(isMade || isDocumented
            ? []
            : [`${name} reads key ${key} of secret ${secret}, which is not created`]),
        ];
      }),
    ];
  });
}
