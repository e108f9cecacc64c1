import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "rolldown";
import { z } from "zod";
import type { LicensedPackage } from "./license-of.ts";
import { licenseOf } from "./license-of.ts";

/** The folder of the package to which a module belongs. */
const packageFolder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const manifestShape = z.looseObject({
  name: z.string(),
  version: z.string(),
  license: z.string().optional(),
  author: z.unknown().optional(),
});

/** The file with the licenses of the packages in bundles, beside them. */
const licensesFile = "licenses.md";
/** The file with the bill of materials of bundles, beside them. */
export const billFile = "sbom.cdx.json";

/**
 * Writes which packages have code in the bundles: `licenses.md` with their licenses and notices, and `sbom.cdx.json`, a bill of materials
 * in the format of CycloneDX.
 */
export function thirdPartyPackages(): Plugin {
  return {
    name: "third-party-packages",
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((file) =>
        file.type === "chunk" ? file.moduleIds : [],
      );
      const packages = packagesOf(modules);
      const licenses = [
        "# Licenses\n\nThe programs in this folder contain code of these packages.\n",
        ...packages.map(licenseOf),
      ].join("\n");
      this.emitFile({ type: "asset", fileName: licensesFile, source: licenses });
      const bill = JSON.stringify(billOf(packages), undefined, 2);
      this.emitFile({ type: "asset", fileName: billFile, source: `${bill}\n` });
    },
  };
}

/** Returns the packages of modules, each once, in the order of their names and versions. */
function packagesOf(modules: readonly string[]): readonly LicensedPackage[] {
  const folders = Map.groupBy(modules, (id) => packageFolder.exec(id)?.[0] ?? "");
  const packages = new Map<string, LicensedPackage>();
  for (const [folder, ids] of folders) {
    if (folder === "") continue;
    const text = readFileSync(join(folder, "package.json"), "utf8");
    const manifest = manifestShape.parse(JSON.parse(text));
    // Modules that are made during the build have names that are no paths.
    const files = ids.map((id) => id.replace(/\?.*$/, "")).filter((id) => existsSync(id));
    const each = { ...manifest, folder, modules: files };
    packages.set(`${manifest.name} ${manifest.version}`, each);
  }
  return [...packages].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

function billOf(packages: readonly LicensedPackage[]): object {
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: { type: "application", "bom-ref": "reeve", name: "reeve" } },
    components: packages.map(({ name, version, license }) => {
      const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
      const licenses = license === undefined ? [] : [{ expression: license }];
      return { type: "library", "bom-ref": purl, name, version, purl, licenses };
    }),
  };
}
