/**
 * Writes a Helm chart with the objects of a kustomization:
 *
 *     kubectl kustomize deploy/k8s/base | npx node scripts/helm-chart.ts FOLDER
 *
 * `helm install reeve FOLDER -n reeve --create-namespace` then creates them. Any overlay can be given instead of the base.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { parseAllDocuments } from "yaml";
import type { ChartObject } from "./helm/chart-files.ts";
import { chartFiles } from "./helm/chart-files.ts";
import { releaseVersion } from "./release/release-version.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined || existsSync(folder)) {
  console.error("usage: kubectl kustomize deploy/k8s/base | node scripts/helm-chart.ts NEW_FOLDER");
  process.exit(2);
}
const objects = parseAllDocuments(await text(process.stdin)).map(
  (document) => document.toJS() as ChartObject,
);
const version = releaseVersion(join(import.meta.dirname, ".."));
for (const [path, content] of chartFiles(objects, { version })) {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
console.log(`wrote ${folder}; helm install reeve ${folder} -n reeve --create-namespace`);
