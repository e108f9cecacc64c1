import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A test that shows the effect of a requirement. */
export interface TaggedTest {
  /** The path of its file, relative to the root of the repository. */
  readonly file: string;
  /** The titles of the enclosing `describe` blocks and its own title. */
  readonly titles: readonly string[];
}

/** A comment `// Requirement: <id>, <id>` and the test below it. */
export interface Tag {
  readonly ids: readonly string[];
  readonly test: TaggedTest;
}

export interface FoundTags {
  readonly tags: readonly Tag[];
  /** Comments that look like tags and cannot be used, each with its place. */
  readonly problems: readonly string[];
}

const sources = "{packages,services,cli,test}/**/*.ts";
const looksLikeTag = /^ *\/\/ ?requirements?\b[^a-z]/i;
const tagPattern = /^ *\/\/ Requirement: ([A-Z]+-\d+(?:, [A-Z]+-\d+)*)$/;
const callPattern = /^(?:test|describe)\b[.(<]/;
/** A call that takes its title in a second pair of parentheses. */
const curriedPattern = /^\w+(?:\.\w+)*\.(?:each|for|skipIf|runIf)\b/;
/** A string or template literal. A placeholder of a template may hold a template of its own. */
const literal = /(?:"((?:[^"\\]|\\.)*)"|`((?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`[^`]*`)*\})*)`)/;
const titlePattern = new RegExp(String.raw`\(\s*${literal.source}`);
const curriedTitlePattern = new RegExp(String.raw`\)\(\s*${literal.source}`);
const placeholder = /\$\{(?:[^{}`]|`[^`]*`)*\}/g;

/** Returns the tags of all tests under `root`, in the order of their files. */
export function findTags(root: string): FoundTags {
  const files = globSync(sources, {
    cwd: root,
    exclude: (name) => name === "node_modules" || name === "gen",
  });
  const found = files
    .toSorted()
    .map((file) => tagsIn(file, readFileSync(join(root, file), "utf8")));
  return {
    tags: found.flatMap(({ tags }) => tags),
    problems: found.flatMap(({ problems }) => problems),
  };
}

/** Returns the tags in `source`, the text of `file`. Relies on the indentation that oxfmt gives. */
export function tagsIn(file: string, source: string): FoundTags {
  const tags: Tag[] = [];
  const problems: string[] = [];
  if (!/requirement/i.test(source)) return { tags, problems };
  const lines = source.split("\n");
  for (const [index, line] of lines.entries()) {
    if (!looksLikeTag.test(line)) continue;
    const ids = tagPattern.exec(line)?.[1]?.split(", ");
    const title = titleAt(lines, index + 1);
    if (ids === undefined)
      problems.push(
        `${file}:${index + 1}: write "// Requirement: <id>, <id>", not "${line.trim()}"`,
      );
    else if (title === undefined)
      problems.push(`${file}:${index + 1}: place the tag directly above a test or describe call`);
    else tags.push({ ids, test: { file, titles: [...titlesAround(lines, index), title] } });
  }
  return { tags, problems };
}

/** Returns the title of the `test` or `describe` call that begins at `lines[at]`, or undefined if there is none. */
function titleAt(lines: readonly string[], at: number): string | undefined {
  const head = lines[at]?.trimStart() ?? "";
  if (!callPattern.test(head)) return undefined;
  const call = [head, ...lines.slice(at + 1)].join("\n");
  const pattern = curriedPattern.test(head) ? curriedTitlePattern : titlePattern;
  const [, quoted, template] = pattern.exec(call) ?? [];
  return quoted?.replaceAll(/\\(.)/g, "$1") ?? readable(template);
}

/** Returns a template literal with its placeholders shortened. One at the end says why tests are skipped, and is dropped. */
function readable(template: string | undefined): string | undefined {
  return template?.replaceAll(placeholder, "…").replace(/ ?…$/, "");
}

/** Returns the titles of the `describe` blocks around `lines[at]`, outermost first. */
function titlesAround(lines: readonly string[], at: number): readonly string[] {
  const titles: string[] = [];
  const closed = new Set<number>();
  let indent = indentOf(lines[at] ?? "");
  for (let index = at - 1; index >= 0 && indent > 0; index--) {
    const line = lines[index] ?? "";
    const its = indentOf(line);
    if (its >= indent) continue;
    if (/^ *\}\);?$/.test(line)) closed.add(its);
    if (!/^ *describe\b[.(<]/.test(line) || closed.has(its)) continue;
    titles.unshift(titleAt(lines, index) ?? "");
    indent = its;
  }
  return titles;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
