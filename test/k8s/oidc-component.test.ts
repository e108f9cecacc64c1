import { join } from "node:path";
import { Role } from "@reeve/contracts/access/role";
import { readOidcConfig } from "@reeve/gateway/auth/oidc/oidc-config";
import { describe, expect, test } from "vitest";
import type { NetworkPolicy } from "./support/kubernetes-object.ts";
import { isNamed } from "./support/kubernetes-object.ts";
import { ofKind, selects, valueOf, workloadsOf } from "./support/manifests.ts";
import { noRenderer, render, renderer, repository } from "./support/render.ts";

const overlay = "test/k8s/overlays/access";

describe.skipIf(renderer === undefined)(
  `the component of an identity provider${renderer === undefined ? `: ${noRenderer}` : ""}`,
  () => {
    const objects = renderer === undefined ? [] : render(overlay);
    const [gateway] = workloadsOf(objects).filter(({ object }) => isNamed(object, "gateway"));

    test("gives the gateway the provider, its claims, and its authority from one ConfigMap", () => {
      const folder = gateway?.pod.volumes?.find(({ name }) => name === "oidc")?.configMap?.name;
      const config = ofKind(objects, "ConfigMap").find((each) => isNamed(each, folder ?? ""));
      const [mount] = (gateway?.containers ?? []).flatMap(({ volumeMounts = [] }) =>
        volumeMounts.filter(({ name }) => name === "oidc"),
      );
      expect(mount).toMatchObject({ mountPath: "/oidc", readOnly: true });
      const files = Object.keys(config?.data ?? {}).map((key) => `/oidc/${key}`);
      const named = ["REEVE_OIDC_CONFIG", "NODE_EXTRA_CA_CERTS"];
      expect(named.map((name) => gateway && valueOf(gateway, name))).toEqual([
        "/oidc/oidc.json",
        "/oidc/ca.pem",
      ]);
      expect(files.toSorted()).toEqual(["/oidc/ca.pem", "/oidc/oidc.json"]);
    });

    test("has a file that the gateway accepts, with the roles of groups", async () => {
      const { tenant, groups_claim, roles } = await readOidcConfig(
        join(repository, overlay, "oidc.json"),
      );
      expect(tenant).toEqual({ claim: ["org"] });
      expect(groups_claim).toEqual(["realm_access", "roles"]);
      expect(roles.get("reeve-approvers")).toEqual([Role.APPROVER]);
    });

    test("permits only the gateway to reach the provider", () => {
      const policy = ofKind(objects, "NetworkPolicy").find((each) => isNamed(each, "oidc"));
      const spec = policy?.spec as NetworkPolicy | undefined;
      const reached = workloadsOf(objects).filter(({ labels }) =>
        selects(spec?.podSelector ?? {}, labels),
      );
      expect(reached.map(({ object }) => object.metadata.name)).toEqual(["gateway"]);
    });
  },
);
