import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const licenseFile = /^(?:(?:un)?licen[cs]e|copying|notice)/i;
const texts = join(import.meta.dirname, "license-texts");
/** A line of a comment that names who has the rights. */
const copyright = /^[\s/*#]*(copyright (?:\(c\) |©)?\d{4}.*\S)/gim;

/** A package whose code is distributed. */
export interface LicensedPackage {
  readonly name: string;
  readonly version: string;
  /** An expression of SPDX. */
  readonly license?: string | undefined;
  readonly author?: unknown;
  readonly folder: string;
  /** The files of the package with the code that is distributed. */
  readonly modules: readonly string[];
}

/**
 * Returns a section with the license of a package: the files with it in the package, or else the text of each license that its manifest
 * names, below the copyright notices in its code. Throws if there is neither.
 */
export function licenseOf(given: LicensedPackage): string {
  const { name, version, license, folder } = given;
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((file) => file.isFile() && licenseFile.test(file.name))
    .map((file) => file.name)
    .toSorted()
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  const sections = files.length > 0 ? files : [noticeOf(given), ...standardTexts(given)];
  const id = license === undefined ? "" : ` (${license})`;
  return `## ${name} ${version}${id}\n${sections.map((text) => `\n${text}\n`).join("")}`;
}

function noticeOf({ name, author, modules }: LicensedPackage): string {
  const notices = new Set(
    modules.flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(copyright)].map(([, notice = ""]) => notice),
    ),
  );
  if (notices.size > 0) return [...notices].toSorted().join("\n");
  return `Copyright (c) ${typeof author === "string" ? author : `the authors of ${name}`}`;
}

function standardTexts({ name, license = "" }: LicensedPackage): readonly string[] {
  const ids = license.match(/[\w.+-]+/g)?.filter((word) => !/^(?:AND|OR|WITH)$/.test(word)) ?? [];
  if (ids.length === 0) throw new Error(`${name} has neither a file with its license nor its name`);
  return ids.map((id) => {
    const file = join(texts, `${id}.txt`);
    if (!existsSync(file))
      throw new Error(`${name} needs the text of its license ${id} in ${texts}`);
    return readFileSync(file, "utf8").trim();
  });
}
