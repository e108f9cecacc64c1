import { describe, expect, test } from "vitest";
import type { KubernetesObject, PodSpec } from "./support/kubernetes-object.ts";
import { noRenderer, render, renderer } from "./support/render.ts";

const setting = "REEVE_ENCRYPTION_KEYS";

/** Returns the pods of the four services, by name. */
function podsOf(objects: readonly KubernetesObject[]): ReadonlyMap<string, PodSpec> {
  const deployments = objects.filter(({ kind }) => kind === "Deployment");
  return new Map(
    deployments.map(({ metadata, spec }) => {
      const { template } = spec as { readonly template: { readonly spec: PodSpec } };
      return [metadata.name, template.spec];
    }),
  );
}

describe.skipIf(renderer === undefined)(
  `keys of tenants${renderer === undefined ? `: ${noRenderer}` : ""}`,
  () => {
    const folder = "test/k8s/overlays/access";
    const objects = renderer === undefined ? [] : render(folder);
    const pods = podsOf(objects);

    test.each(["gateway", "approvals", "runtime", "toolhost"])(
      "%s has the folder of keys that all services share",
      (name) => {
        const { containers = [], volumes = [] } = pods.get(name) ?? {};
        const [container] = containers;
        const path = container?.env?.find((each) => each.name === setting)?.value ?? "";
        const mounts = container?.volumeMounts?.filter((each) =>
          path.startsWith(`${each.mountPath}/`),
        );
        // A toolhost runs code of models, and creates no keys.
        const readOnly = name === "toolhost" ? { readOnly: true } : {};
        expect(mounts).toEqual([{ name: "keys", mountPath: "/keys", ...readOnly }]);
        const claim = volumes.find((each) => each.name === "keys")?.persistentVolumeClaim;
        expect(claim).toEqual({ claimName: "reeve-keys" });
      },
    );

    test("deleting what was rendered does not delete the keys", () => {
      expect(objects.filter(({ kind }) => kind === "PersistentVolumeClaim")).toEqual([]);
    });

    test("no other overlay sets keys, so that nobody encrypts by chance", () => {
      const production = renderer === undefined ? [] : render("deploy/k8s/overlays/prod");
      const settings = [...podsOf(production).values()].flatMap(({ containers }) =>
        containers.flatMap(({ env = [] }) => env.map(({ name }) => name)),
      );
      expect(settings).not.toContain(setting);
    });
  },
);
