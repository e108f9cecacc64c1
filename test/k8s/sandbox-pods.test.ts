import { describe, expect, test } from "vitest";
import { claimRights } from "@reeve/sandbox/kubernetes/claimed-sessions";
import { podManifest } from "@reeve/sandbox/kubernetes/spec";
import { attachRights, podRights } from "@reeve/sandbox/kubernetes/pod-sessions";
import type { Right } from "@reeve/sandbox/kubernetes/session-source";
import { leaseRights } from "@reeve/sandbox/kubernetes/owner-lease";
import { defaultLimits } from "@reeve/sandbox/port";
import { policies } from "./policies/all-policies.ts";
import type { KubernetesObject } from "./support/kubernetes-object.ts";
import { noRenderer, render, renderer } from "./support/render.ts";

/** A pod as the toolhost creates it, as JSON. */
const pod = JSON.parse(
  JSON.stringify(
    podManifest(defaultLimits, {
      name: "reeve-sandbox-1",
      namespace: "reeve-sandboxes",
      owner: "reeve-toolhost-1",
      controller: {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        name: "reeve-toolhost-1",
        uid: "a2b8",
        controller: true,
      },
      image: "reeve-sandbox:0.1.0",
      uid: 65_533,
      runtimeClass: undefined,
      now: 0,
    }),
  ),
) as KubernetesObject & { spec: { activeDeadlineSeconds?: number } };

const evictable = { "cluster-autoscaler.kubernetes.io/safe-to-evict": "true" };

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

function granted({ rules = [] }: KubernetesObject): readonly string[] {
  const given = (rules as Rule[]).flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource} (${group})`)),
    ),
  );
  return given.toSorted();
}

function used(rights: readonly Right[]): readonly string[] {
  const named = rights.map(({ verb, resource, group }) => `${verb} ${resource} (${group})`);
  return [...new Set(named)].toSorted();
}

test("the pod of a sandbox lets the cluster autoscaler remove its node", () => {
  expect(pod.metadata.annotations).toEqual(evictable);
});

test("the pod of a sandbox is valid for Kubernetes and satisfies the restricted standard", () => {
  const deployed = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "sandbox" },
    spec: { selector: {}, template: { metadata: pod.metadata, spec: pod.spec } },
  };
  expect(policies.schema([pod])).toEqual([]);
  expect(policies.podSecurity([deployed])).toEqual([]);
  expect(pod.spec).toMatchObject({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: "Never",
    activeDeadlineSeconds: 14_400,
  });
});

describe.skipIf(renderer === undefined)(
  `the deployment for sandboxes${renderer === undefined ? `: ${noRenderer}` : ""}`,
  () => {
    const objects = renderer === undefined ? [] : render("test/k8s/overlays/all");
    const find = (kind: string, name: string) => {
      const found = objects.find((one) => one.kind === kind && one.metadata.name === name);
      if (found === undefined) throw new Error(`no ${kind} ${name} exists`);
      return found;
    };

    // Requirement: OPS-9
    test("grants the toolhost exactly the verbs that it uses", () => {
      expect(granted(find("Role", "sandboxes"))).toEqual(used([...podRights, ...leaseRights]));
      expect(granted(find("Role", "sandbox-claims"))).toEqual(used(claimRights));
      const ofClaims = used([...attachRights, ...leaseRights]);
      expect(granted(find("Role", "sandboxes"))).toEqual(expect.arrayContaining([...ofClaims]));
    });

    test("limits the toolhost's rights to a namespace without secrets and service accounts", () => {
      for (const name of ["sandboxes", "sandbox-claims"]) {
        expect(find("Role", name).metadata.namespace).toBe("reeve-sandboxes");
        expect(find("RoleBinding", name).metadata.namespace).toBe("reeve-sandboxes");
      }
      const inside = objects.filter(({ metadata }) => metadata.namespace === "reeve-sandboxes");
      const kinds = new Set(inside.map(({ kind }) => kind));
      for (const kind of ["Secret", "ServiceAccount", "ConfigMap"])
        expect(kinds).not.toContain(kind);
    });

    test("keeps warm pods that equal those the toolhost creates", () => {
      const template = find("SandboxTemplate", "sandbox").spec as {
        podTemplate: { metadata: { annotations: object }; spec: object };
      };
      expect(template.podTemplate.metadata.annotations).toEqual(evictable);
      const { activeDeadlineSeconds: _, ...expected } = pod.spec;
      expect(template.podTemplate.spec).toEqual(expected);
    });
  },
);
