// Runs during an image build, in the context of the build: writes /app. Needs Node, and npm only if the context is a checkout.
import { execFileSync } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const app = "/app";
const user = 65_532;
/** What says which packages the programs contain, and is elsewhere in the image. */
const notes = ["sbom.cdx.json", "licenses.md"];
const workspaces = ["packages", "services", "cli", "sdk/typescript"];

if (existsSync("programs")) cpSync(".", app, { recursive: true });
else await writePrograms();
mkdirSync("/usr/share/reeve", { recursive: true });
for (const note of notes) {
  cpSync(join(app, "programs", note), join("/usr/share/reeve", note));
  rmSync(join(app, "programs", note));
}
for (const folder of ["/data", join(app, ".compile-cache")]) {
  mkdirSync(folder, { recursive: true });
  chownSync(folder, user, user);
}

/** Installs the packages of the lockfile, bundles the programs with those that they need, and leaves all others behind. */
async function writePrograms() {
  const only = workspaces.flatMap((each) => ["--workspace", each]);
  execFileSync("npm", ["ci", "--include-workspace-root", ...only], { stdio: "inherit" });
  const { writeImageContent } = await import("../../scripts/images/image-content.ts");
  await writeImageContent(app);
}
