/**
 * Makes the image of docker sandboxes from the Debian packages of this machine, without a registry:
 * `node scripts/sandbox-image.ts [NAME]`. It has Python, the usual small programs, and what those depend on; no package
 * manager, no user, no setuid program that would be of any use.
 */
import process from "node:process";
import { alternatives, closureOf, filesOf } from "./images/debian-packages.ts";
import { importImage } from "./images/import-image.ts";

const roots =
  "python3 coreutils dash bash grep sed gawk mawk findutils diffutils gzip tar util-linux ripgrep";

const [name = "reeve-sandbox:latest"] = process.argv.slice(2);
const files = [...filesOf(closureOf(roots.split(" "))), ...alternatives()];
importImage(name, { folders: ["workspace"], files });
console.log(`made ${name}; toolhosts take it with REEVE_SANDBOX=docker`);
