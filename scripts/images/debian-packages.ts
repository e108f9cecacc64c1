import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const unwanted =
  /^\/(?:usr\/share\/(?:doc|man|info|locale|lintian|bug|menu)|etc\/(?:pam\.d|init\.d|cron|default)|var|bin|sbin|lib|lib32|lib64|libx32)(?:\/|$)/;
const linker = ["/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"];

/** Returns the names of `wanted`, those installed on this machine, and of all packages that they depend on. */
export function closureOf(wanted: readonly string[]): readonly string[] {
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

/** Returns the names of `wanted` that are not installed on this machine. */
export function missingOf(wanted: readonly string[]): readonly string[] {
  return wanted.filter((each) => closureOf([each]).length === 0);
}

/** Returns the absolute, resolved paths of the files and links of packages, and of the configuration of the linker. */
export function filesOf(packages: readonly string[]): readonly string[] {
  const listed = execFileSync("dpkg", ["-L", ...packages], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  const paths = [...listed.split("\n").filter((path) => path.startsWith("/")), ...linker];
  const real = paths
    .filter((path) => existsSync(dirname(path)))
    .map((path) => join(realpathSync(dirname(path)), basename(path)));
  return [...new Set(real)].filter(
    (path) => !unwanted.test(path) && lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  );
}

/** Returns the links of the alternatives that this machine has chosen, such as `/etc/alternatives/awk`. */
export function alternatives(): readonly string[] {
  const links = execFileSync("find", ["/etc/alternatives", "-type", "l", "-print0"], {
    encoding: "utf8",
  });
  return ["/etc/alternatives", ...links.split("\0").filter(Boolean)];
}

/** Returns the dpkg status of each package. Image scanners read it where there is no package manager. */
export function statusOf(packages: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    packages.map((each) => [each, execFileSync("dpkg-query", ["-s", each], { encoding: "utf8" })]),
  );
}

function nameOf(dependency: string): string {
  return dependency.trim().replace(/[\s(:].*$/, "");
}
