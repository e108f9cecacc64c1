/**
 * Builds the image of Docker sandboxes from the Debian packages of this machine, without a registry:
 * `node scripts/sandbox-image.ts [NAME]`. It contains Python, the common command line tools, and their dependencies, but no
 * package manager and no user accounts. Sandboxes run without privileges, so its setuid programs gain nothing.
 */
import process from "node:process";
import { alternatives, closureOf, filesOf } from "./images/debian-packages.ts";
import { importImage } from "./images/import-image.ts";

const packages =
  "python3 coreutils dash bash grep sed gawk mawk findutils diffutils gzip tar util-linux ripgrep";

const [name = "reeve-sandbox:latest"] = process.argv.slice(2);
const files = [...filesOf(closureOf(packages.split(" "))), ...alternatives()];
importImage(name, { folders: ["workspace"], files });
console.log(`built ${name}; toolhosts use it with REEVE_SANDBOX=docker`);
