import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "./support/kubernetes-object.ts";
import { ofKind } from "./support/manifests.ts";
import { noRenderer, render, renderer, repository } from "./support/render.ts";

const overlay = "deploy/k8s/overlays/dev";

/** Returns the job of an overlay on top of the one for development. */
function jobWith(lines: readonly string[]): KubernetesObject {
  const folder = mkdtempSync(join(tmpdir(), "reeve-overlay-"));
  try {
    const text = [`resources: [${relative(folder, join(repository, overlay))}]`, ...lines];
    writeFileSync(join(folder, "kustomization.yaml"), text.join("\n"));
    const [job] = ofKind(render(relative(repository, folder)), "Job");
    if (job === undefined) throw new Error("the overlay has no job");
    return job;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const settings =
  "configMapGenerator: [{ name: provision, namespace: reeve, behavior: merge, literals: [";

describe.skipIf(renderer === undefined)(
  `the job that provisions${renderer === undefined ? `: ${noRenderer}` : ""}`,
  () => {
    const before = renderer === undefined ? undefined : jobWith([]);

    test.each([
      ["another tag", "images: [{ name: reeve, newTag: 9.9.9 }]"],
      ["another registry", "images: [{ name: reeve, newName: registry.example/reeve }]"],
      ["another pool", `${settings}"REEVE_POOLS=default,large"] }]`],
      ["another number of replicas", `${settings}REEVE_STREAM_REPLICAS=3] }]`],
      ["another server", `${settings}"REEVE_NATS_URL=nats://other:4222"] }]`],
    ])("is another job with %s, because a job cannot be changed", (_, line) => {
      const after = jobWith([line]);
      expect(after.spec).not.toEqual(before?.spec);
      expect(after.metadata.name).not.toBe(before?.metadata.name);
    });

    test("is the same job when only settings of the services change", () => {
      const changed = settings.replace("name: provision", "name: reeve");
      expect(jobWith([`${changed}REEVE_LOG_LEVEL=trace] }]`])).toEqual(before);
    });
  },
);
