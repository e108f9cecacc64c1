import { create } from "@bufbuild/protobuf";
import { SkillDescriptorSchema } from "@reeve/contracts/agent";
import { bytesDigest } from "@reeve/contracts/digest/bytes-digest";
import type { Violation } from "@reeve/platform/failure";
import { isMap, isScalar, parseDocument } from "yaml";
import { z } from "zod";
import type { Skill, SkillFile } from "./skill.ts";
import { skillFileName } from "./skill.ts";

/** Limits of one skill. */
export const skillLimits = {
  files: 200,
  fileBytes: 1_048_576,
  totalBytes: 4_194_304,
  instructionBytes: 131_072,
  frontMatterBytes: 16_384,
} as const;

/** The front matter of `SKILL.md`. Other fields, such as `license`, are for other programs. */
const frontMatter = z.object({
  name: z
    .string("must be a text")
    .regex(
      /^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/,
      "must have at most 64 lowercase letters, digits, and hyphens, and start and end with none",
    ),
  description: z
    .string("must be a text")
    .trim()
    .min(1, "must not be empty")
    .max(1_024, "has more than 1024 characters"),
});

/** A skill, or everything that is wrong with it. The field of a violation is a file, such as `a.md`, or a field of the front matter, such as `SKILL.md: name`. */
export type ParsedSkill = { readonly skill: Skill } | { readonly violations: readonly Violation[] };

/** Returns the skill that the files of a folder make up. The name of the skill must be that of the folder. */
export function parseSkill(folder: string, files: readonly SkillFile[]): ParsedSkill {
  const sizes = sizeViolations(files);
  // What is too large is not parsed.
  if (sizes.length > 0) return invalid(sizes);
  const file = files.find(({ path }) => path === skillFileName);
  if (file === undefined) {
    return invalid([violation(skillFileName, "does not exist", "REQUIRED")]);
  }
  const { head, body } = partsOf(file.content);
  if (head === undefined) {
    const problem = "must be UTF-8 text that starts with YAML between two lines of ---";
    return invalid([violation(skillFileName, problem, "SYNTAX")]);
  }
  const headBytes = Buffer.byteLength(head);
  if (headBytes > skillLimits.frontMatterBytes) {
    const large = `its front matter has ${headBytes} bytes; the limit is ${skillLimits.frontMatterBytes}`;
    return invalid([violation(skillFileName, large, "TOO_LARGE")]);
  }
  const { value, problem } = readYaml(head);
  if (problem !== undefined) return invalid([violation(skillFileName, problem, "SYNTAX")]);
  const parsed = frontMatter.safeParse(value);
  const fields = parsed.success
    ? nameViolations(folder, parsed.data.name)
    : parsed.error.issues.map(({ path, message }) =>
        violation(placeOf(path.join(".")), message, "MALFORMED"),
      );
  const empty =
    body === ""
      ? [violation(skillFileName, "has no instructions after its front matter", "REQUIRED")]
      : [];
  const all = [...fields, ...empty];
  if (all.length > 0 || !parsed.success) return invalid(all);
  const { name, description } = parsed.data;
  const ordered = files.toSorted((a, b) =>
    Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)),
  );
  const descriptor = create(SkillDescriptorSchema, {
    name,
    description,
    digest: skillDigest(ordered),
    fileCount: files.length,
    sizeBytes: BigInt(totalOf(files)),
  });
  const others = ordered.filter(({ path }) => path !== skillFileName);
  return { skill: { descriptor, instructions: body, document: file.content, files: others } };
}

/** Returns the digest of a skill, as `SkillDescriptor.digest` defines it. `ordered` are its files, ordered by the bytes of their paths. */
function skillDigest(ordered: readonly SkillFile[]): string {
  const lines = ordered.map(({ path, content }) => `${bytesDigest(content)}  ${path}\n`);
  return bytesDigest(Buffer.from(lines.join("")));
}

function partsOf(content: Uint8Array): {
  readonly head: string | undefined;
  readonly body: string;
} {
  const text = utf8(content)?.replaceAll("\r\n", "\n");
  const [, head, body = ""] = /^---\n([\s\S]*?\n)---[ \t]*(?:\n([\s\S]*))?$/.exec(text ?? "") ?? [];
  return { head, body: body.trim() };
}

/** Returns bytes as text. Undefined: they are no UTF-8. */
export function utf8(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}

function readYaml(text: string): { readonly value?: unknown; readonly problem?: string } {
  // The library compares each key with all others.
  const options = { stringKeys: true, prettyErrors: false, uniqueKeys: false };
  try {
    const document = parseDocument(text, options);
    const [error] = document.errors;
    if (error !== undefined) return { problem: `its front matter is no YAML: ${error.message}` };
    const repeated = repeatedKey(document.contents);
    if (repeated !== undefined) {
      return { problem: `its front matter has the field "${repeated.slice(0, 100)}" twice` };
    }
    return { value: document.toJS({ maxAliasCount: 10 }) as unknown };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return { problem: `its front matter cannot be read: ${message}` };
  }
}

/** Returns a field of the front matter that stands in it more than once. */
function repeatedKey(contents: unknown): string | undefined {
  if (!isMap(contents)) return undefined;
  const seen = new Set<string>();
  for (const { key } of contents.items) {
    const name = isScalar(key) ? String(key.value) : "";
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

function sizeViolations(files: readonly SkillFile[]): readonly Violation[] {
  const { files: maxFiles, fileBytes, totalBytes, instructionBytes } = skillLimits;
  const tooLarge = (path: string, size: number, limit: number) =>
    size > limit ? [violation(path, `has ${size} bytes; the limit is ${limit}`, "TOO_LARGE")] : [];
  return [
    ...(files.length > maxFiles
      ? [
          violation(
            "",
            `the skill has ${files.length} files; the limit is ${maxFiles}`,
            "TOO_LARGE",
          ),
        ]
      : []),
    ...files.flatMap(({ path, content }) =>
      tooLarge(path, content.length, path === skillFileName ? instructionBytes : fileBytes),
    ),
    ...tooLarge("", totalOf(files), totalBytes),
  ];
}

function totalOf(files: readonly SkillFile[]): number {
  return files.reduce((sum, { content }) => sum + content.length, 0);
}

function nameViolations(folder: string, name: string): readonly Violation[] {
  if (name === folder) return [];
  return [
    violation(
      placeOf("name"),
      `is "${name}", but its folder is "${folder}"; give both the same`,
      "MALFORMED",
    ),
  ];
}

/** Returns the place of a field of the front matter. Empty: the front matter itself. */
function placeOf(field: string): string {
  return field === "" ? skillFileName : `${skillFileName}: ${field}`;
}

function invalid(violations: readonly Violation[]): ParsedSkill {
  return { violations };
}

function violation(field: string, description: string, reason: string): Violation {
  return { field, description, reason };
}
