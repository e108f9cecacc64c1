import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ofKind } from "./support/manifests.ts";
import { noRenderer, render, renderer } from "./support/render.ts";

const file = join(import.meta.dirname, "../../deploy/k8s/components/monitoring/dashboard.json");

test.skipIf(renderer === undefined)(
  `production gives Grafana the complete dashboard${renderer === undefined ? `: ${noRenderer}` : ""}`,
  () => {
    const [dashboard] = ofKind(render("deploy/k8s/overlays/prod"), "ConfigMap").filter(
      ({ metadata }) => metadata.labels?.["grafana_dashboard"] === "1",
    );
    expect(dashboard?.data?.["dashboard.json"]).toBe(readFileSync(file, "utf8"));
  },
);
