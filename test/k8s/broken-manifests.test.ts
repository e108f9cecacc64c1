import { describe, expect, test } from "vitest";
import { breaks } from "./breaks/all-breaks.ts";
import type { Find } from "./breaks/break.ts";
import { isNamed } from "./support/kubernetes-object.ts";
import { policies } from "./policies/all-policies.ts";
import type { KubernetesObject } from "./support/kubernetes-object.ts";
import { noRenderer, render, renderer } from "./support/render.ts";

function finderIn(objects: readonly KubernetesObject[]): Find {
  return (kind, name) => {
    const found = objects.find((one) => one.kind === kind && isNamed(one, name));
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
    return found;
  };
}

describe.skipIf(renderer === undefined)(
  `a copy of the manifests${renderer === undefined ? `: ${noRenderer}` : ""}`,
  () => {
    const whole = renderer === undefined ? [] : render("test/k8s/overlays/all");

    test.each(breaks)("fails the check of %s for %s", (name, _, breakIt, said) => {
      const objects = structuredClone(whole) as KubernetesObject[];
      breakIt(finderIn(objects), objects);
      expect(policies[name](objects).join("\n")).toContain(said);
    });
  },
);

// Requirement: OPS-8
test("every check has a copy that fails it", () => {
  expect([...new Set(breaks.map(([name]) => name))]).toEqual(Object.keys(policies));
});
