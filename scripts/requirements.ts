/**
 * Writes docs/requirements.md from docs/requirements.yaml and the tags in the tests. With `--check`, changes nothing and
 * ends with an error if the page is out of date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { readCatalog } from "./requirements/catalog.ts";
import { pageFile, problemsWith, renderPage } from "./requirements/page.ts";
import { findTags } from "./requirements/tags.ts";

const root = join(import.meta.dirname, "..");
const sections = readCatalog(root);
const { tags, problems } = findTags(root);
const all = [...problems, ...problemsWith(sections, tags)];
const page = renderPage(sections, tags);
if (process.argv.includes("--check")) {
  if (readFileSync(join(root, pageFile), "utf8") !== page)
    all.push(`${pageFile} is out of date; run npm run requirements`);
} else {
  writeFileSync(join(root, pageFile), page);
}
for (const problem of all) console.error(problem);
process.exitCode = all.length > 0 ? 1 : 0;
