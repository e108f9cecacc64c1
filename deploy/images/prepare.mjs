// Runs while an image is built, in the folder that becomes /app. It needs Node, and npm only where the context has no packages.
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

if (!existsSync("node_modules")) install();
prune();
mkdirSync("/usr/share/reeve", { recursive: true });
cpSync(bill, `/usr/share/reeve/${bill}`);
rmSync(bill);
for (const folder of ["/data", ".compile-cache"]) {
  mkdirSync(folder, { recursive: true });
  chownSync(folder, user, user);
}

/** The tests, benchmarks and the library have packages of their own, which nothing here needs. Node comes from the base. */
function install() {
  for (const path of [
    "package.json",
    ...globSync("{packages/*,services/*,cli,sdk/typescript}/package.json"),
  ]) {
    const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(path, "utf8"));
    if (path === "package.json") {
      // A bill of materials names a version.
      manifest.version = JSON.parse(readFileSync("cli/package.json", "utf8")).version;
      manifest.workspaces = ["packages/*", "services/*", "cli", "sdk/typescript"];
    }
    writeFileSync(path, JSON.stringify(manifest, undefined, 2));
  }
  npm("install", "--omit=dev", "--no-audit", "--no-fund");
  writeFileSync(bill, npm("sbom", "--omit=dev", "--sbom-format=cyclonedx"));
}

/** Node strips no types below node_modules; tests and maps are for people. */
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
