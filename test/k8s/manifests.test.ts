import process from "node:process";
import { describe, expect, test } from "vitest";
import { policies } from "./policies/all-policies.ts";
import { noRenderer, render, renderer } from "./support/render.ts";

/** The checked kustomizations: each overlay, and all components together. */
const folders = [
  "deploy/k8s/overlays/dev",
  "deploy/k8s/overlays/prod",
  "deploy/k8s/overlays/dev-sandbox",
  "test/k8s/overlays/all",
  "test/k8s/overlays/ingress",
  "test/k8s/overlays/tls",
  "test/k8s/overlays/access",
  "test/k8s/overlays/temporal",
];

test.skipIf(renderer === undefined && process.env["CI"] === undefined)(
  "a program to render manifests is installed",
  () => {
    expect(renderer === undefined ? noRenderer : undefined).toBeUndefined();
  },
);

describe.skipIf(renderer === undefined).each(folders)(
  `%s${renderer === undefined ? `: ${noRenderer}` : ""}`,
  (folder) => {
    const objects = renderer === undefined ? [] : render(folder);

    test("has the four services", () => {
      const names = objects
        .filter(({ kind }) => kind === "Deployment")
        .map(({ metadata }) => metadata.name);
      expect(names.toSorted()).toEqual(["approvals", "gateway", "runtime", "toolhost"]);
    });

    // Requirement: OPS-8
    test.each(Object.entries(policies))("passes the check of %s", (_, policy) => {
      expect(policy(objects)).toEqual([]);
    });
  },
);
