/**
 * Makes the image of docker sandboxes from the Debian packages of this machine, without a registry:
 * `node scripts/sandbox-image.ts [NAME]`. It has Python, the usual small programs, and what those depend on; no package
 * manager, no user, no setuid program that would be of any use.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";

const roots =
  "python3 coreutils dash bash grep sed gawk mawk findutils diffutils gzip tar util-linux ripgrep";
const folders = ["workspace", "tmp", "proc", "sys", "dev", "etc"];
const unwanted =
  /^\/(?:usr\/share\/(?:doc|man|info|locale|lintian|bug|menu)|etc\/(?:pam\.d|init\.d|cron|default)|var|bin|sbin|lib|lib32|lib64|libx32)(?:\/|$)/;
const further = ["/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"];

const [name = "reeve-sandbox:latest"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "reeve-image-"));
try {
  build(folder, name);
  console.log(`made ${name}; toolhosts take it with REEVE_SANDBOX=docker`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function build(folder: string, name: string): void {
  const base = join(folder, "base");
  for (const each of folders) mkdirSync(join(base, each), { recursive: true });
  // What is mounted there gets the mode of what lies below it.
  chmodSync(join(base, "tmp"), 0o1777);
  for (const each of ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]) {
    if (existsSync(`/${each}`) && lstatSync(`/${each}`).isSymbolicLink()) {
      symlinkSync(readlinkSync(`/${each}`), join(base, each));
    }
  }
  const list = join(folder, "list");
  writeFileSync(list, filesOf(closure(roots.split(" "))).join("\0"));
  const image = join(folder, "image.tar");
  const owners = ["--numeric-owner", "--owner=0", "--group=0"];
  const listed = ["--no-recursion", "-C", "/", "--null", "-T", list];
  execFileSync("tar", ["-c", "-f", image, ...owners, "-C", base, ".", ...listed]);
  execFileSync("docker", ["import", image, name], { stdio: ["ignore", "ignore", "inherit"] });
}

/** Installed packages and all that they depend on, by name. */
function closure(wanted: readonly string[]): readonly string[] {
  const format = "${Package}\t${db:Status-Status}\t${Depends}, ${Pre-Depends}\t${Provides}\n";
  const rows = execFileSync("dpkg-query", ["-W", "-f", format], { encoding: "utf8" });
  const needs = new Map<string, string>();
  const providers = new Map<string, string>();
  for (const row of rows.split("\n")) {
    const [own = "", status, depends = "", provides = ""] = row.split("\t");
    if (status !== "installed") continue;
    needs.set(own, depends);
    for (const each of provides.split(",")) providers.set(nameOf(each), own);
  }
  const found = new Set<string>();
  const visit = (each: string) => {
    const own = needs.has(each) ? each : providers.get(each);
    if (own === undefined || found.has(own)) return;
    found.add(own);
    for (const need of needs.get(own)?.split(",") ?? []) {
      const choice = need
        .split("|")
        .map(nameOf)
        .find((each) => needs.has(each) || providers.has(each));
      if (choice !== undefined) visit(choice);
    }
  };
  for (const each of wanted) visit(each);
  return [...found];
}

function nameOf(dependency: string): string {
  return dependency.trim().replace(/[\s(:].*$/, "");
}

/** Files and links of packages, where they really lie. */
function filesOf(packages: readonly string[]): readonly string[] {
  const listed = execFileSync("dpkg", ["-L", ...packages], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  const paths = [...listed.split("\n").filter((path) => path.startsWith("/")), ...further];
  const real = paths
    .filter((path) => existsSync(dirname(path)))
    .map((path) => join(realpathSync(dirname(path)), basename(path)));
  const kept = real.filter(
    (path) => !unwanted.test(path) && lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  );
  const alternatives = execFileSync("find", ["/etc/alternatives", "-type", "l", "-print0"], {
    encoding: "utf8",
  });
  return [...new Set([...kept, ...alternatives.split("\0").filter(Boolean)])]
    .map((path) => path.slice(1))
    .filter((path) => path !== "" && path !== "." && !folders.includes(path));
}
