import process from "node:process";
import { describe, expect, test } from "vitest";
import type { ChartObject } from "../../scripts/helm/chart-files.ts";
import { chartFiles } from "../../scripts/helm/chart-files.ts";
import type { KubernetesObject } from "./support/kubernetes-object.ts";
import { workloadsOf } from "./support/manifests.ts";
import { policies } from "./policies/all-policies.ts";
import { render, renderer } from "./support/render.ts";
import { noTemplates, templateChart } from "./support/template-chart.ts";

test.skipIf(noTemplates !== undefined && process.env["CI"] === undefined)(
  "a program to render charts is installed",
  () => {
    expect(noTemplates).toBeUndefined();
  },
);

/** Returns the objects of the chart of a kustomization. */
function template(
  objects: readonly KubernetesObject[],
  values: Parameters<typeof templateChart>[1] = {},
): readonly KubernetesObject[] {
  const files = chartFiles(objects as readonly ChartObject[], { version: "1.2.3" });
  return templateChart(files, values);
}

/** Returns objects without what depends on the tool that rendered them, by kind and name. */
function comparable(objects: readonly KubernetesObject[]): ReadonlyMap<string, unknown> {
  const text = JSON.stringify(objects)
    .replaceAll(/"namespace":"reeve",?/g, "")
    .replaceAll(/,?"checksum\/settings":"[0-9a-f]{64}"/g, "")
    .replaceAll(/,?"annotations":\{\}/g, "")
    .replaceAll(/"name":"(reeve|provision)-([a-z0-9]{10}|1)"/g, '"name":"$1"')
    .replaceAll(",}", "}");
  const parsed = JSON.parse(text) as readonly KubernetesObject[];
  return new Map(
    parsed
      .filter(({ kind }) => kind !== "Namespace")
      .map((object) => [`${object.kind} ${object.metadata.name}`, object]),
  );
}

describe.skipIf(noTemplates !== undefined || renderer === undefined)(
  `the Helm chart${noTemplates === undefined ? "" : `: ${noTemplates}`}`,
  () => {
    test.each(["deploy/k8s/base", "deploy/k8s/overlays/prod"])(
      "creates the objects of %s",
      (folder) => {
        const objects = render(folder);
        expect(comparable(template(objects))).toEqual(comparable(objects));
      },
    );

    test("has the image, the replicas, and the settings of its values", () => {
      const objects = template(render("deploy/k8s/base"), {
        image: "registry.example/reeve:2",
        replicas: { runtime: 7 },
        settings: { REEVE_ACK_WAIT_MS: "30000" },
      });
      const images = workloadsOf(objects).flatMap(({ containers }) => containers);
      expect(new Set(images.map(({ image }) => image))).toEqual(
        new Set(["registry.example/reeve:2"]),
      );
      const found = (kind: string, name: string) =>
        objects.find((object) => object.kind === kind && object.metadata.name === name);
      expect(found("Deployment", "runtime")?.spec).toMatchObject({ replicas: 7 });
      expect(found("ConfigMap", "reeve")).toMatchObject({ data: { REEVE_ACK_WAIT_MS: "30000" } });
      expect(found("ConfigMap", "provision")).toMatchObject({
        data: { image: "registry.example/reeve:2" },
      });
      expect(policies.schema(objects)).toEqual([]);
    });

    test("replaces the pods when a setting changes, and only then", () => {
      const base = render("deploy/k8s/base");
      const podOf = (values: Parameters<typeof templateChart>[1]) =>
        template(base, values).find(
          ({ kind, metadata }) => kind === "Deployment" && metadata.name === "gateway",
        )?.spec;
      expect(podOf({ replicas: { runtime: 7 } })).toEqual(podOf({}));
      expect(podOf({ settings: { REEVE_LOG_LEVEL: "warn" } })).not.toEqual(podOf({}));
    });
  },
);

test("a chart has one namespace", () => {
  const objects = ["one", "two"].map((namespace) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "gateway", namespace },
  }));
  expect(() => chartFiles(objects, { version: "1.2.3" })).toThrow("the objects have one, two");
});
