// Runs during an image build, in the folder that becomes /app. Needs Node, and npm only if the context has no node_modules.
import { execFileSync } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";

const user = 65_532;
const bill = "sbom.cdx.json";
const workspaces = ["packages", "services", "cli", "sdk/typescript"];

if (!existsSync("node_modules")) install();
prune();
mkdirSync("/usr/share/reeve", { recursive: true });
cpSync(bill, `/usr/share/reeve/${bill}`);
rmSync(bill);
for (const folder of ["/data", ".compile-cache"]) {
  mkdirSync(folder, { recursive: true });
  chownSync(folder, user, user);
}

/** Installs the production packages of the lockfile, and writes their bill of materials. Node itself comes from the base. */
function install() {
  const only = workspaces.flatMap((each) => ["--workspace", each]);
  npm("ci", "--omit=dev", "--omit=optional", ...only);
  // npm lists no bill of materials while a manifest names packages that are not installed.
  for (const path of [
    "package.json",
    ...globSync("{packages/*,services/*,cli,sdk/typescript}/package.json"),
  ]) {
    const {
      devDependencies: _,
      optionalDependencies: __,
      ...manifest
    } = JSON.parse(readFileSync(path, "utf8"));
    if (path === "package.json")
      manifest.workspaces = ["packages/*", "services/*", "cli", "sdk/typescript"];
    writeFileSync(path, JSON.stringify(manifest, undefined, 2));
  }
  writeFileSync(bill, npm("sbom", "--omit=dev", "--sbom-format=cyclonedx"));
}

/** Removes what production does not load: type declarations, source maps (Node strips no types in node_modules), tests. */
function prune() {
  const unneeded = [
    "**/node_modules/**/*.{ts,mts,cts,map}",
    "{packages,services,cli,sdk}/**/*.test.ts",
    "{packages,services,cli}/*/test",
    "cli/test",
    "package-lock.json",
    ".npmrc",
  ];
  for (const pattern of unneeded) {
    for (const path of globSync(pattern)) rmSync(path, { recursive: true, force: true });
  }
}

function npm(...args) {
  return execFileSync("npm", args, { encoding: "utf8", maxBuffer: 2 ** 26 });
}
