import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readCatalog } from "../../scripts/requirements/catalog.ts";
import { pageFile, problemsWith, renderPage } from "../../scripts/requirements/page.ts";
import { findTags, tagsIn } from "../../scripts/requirements/tags.ts";

const root = join(import.meta.dirname, "../..");
const sections = readCatalog(root);
const found = findTags(root);

/** Returns the tags in a test file with these lines. */
const tagsOf = (...lines: readonly string[]) => tagsIn("a.test.ts", lines.join("\n"));

test("every tag names a known requirement, and every requirement has a tag or a reason for having none", () => {
  expect([...found.problems, ...problemsWith(sections, found.tags)]).toEqual([]);
});

test("docs/requirements.md is up to date; if not, run npm run requirements", () => {
  const page = readFileSync(join(root, pageFile), "utf8");
  expect(page).toBe(renderPage(sections, found.tags));
});

describe("a contradiction is reported", () => {
  const [first] = found.tags;
  const withTag = (id: string) => [...found.tags, ...(first ? [{ ...first, ids: [id] }] : [])];

  test("for a tag with an unknown id", () => {
    const planted = tagsOf("// Requirement: CFG-1, CFG-999", 'test("plans", () => {});').tags;
    expect(problemsWith(sections, [...found.tags, ...planted])).toEqual([
      expect.stringMatching(/^a\.test\.ts: the tag of "plans" names CFG-999/),
    ]);
  });

  test("for a requirement that lost its last tag", () => {
    const others = found.tags.filter(({ ids }) => !ids.includes("PLAN-8"));
    expect(problemsWith(sections, others)).toContainEqual(
      expect.stringMatching(/^PLAN-8 is tested, but no test has its tag/),
    );
  });

  test('for a tag of a requirement that is "not yet" there', () => {
    const planned = sections.map((section) => ({
      ...section,
      requirements: section.requirements.map((each) =>
        each.id === "WF-1" ? { ...each, status: "not yet" as const } : each,
      ),
    }));
    expect(problemsWith(planned, withTag("WF-1"))).toEqual([
      expect.stringMatching(/^WF-1 is "not yet", but a test has its tag/),
    ]);
  });

  test("for a gap in the numbers of a section", () => {
    const broken = sections.map((section) =>
      section.name === "WF" ? { ...section, requirements: section.requirements.slice(1) } : section,
    );
    const others = found.tags.filter(({ ids }) => !ids.includes("WF-1"));
    expect(problemsWith(broken, others)).toEqual([
      expect.stringMatching(/^WF-1 is missing from .* before WF-2/),
    ]);
  });
});

describe("a tag", () => {
  test("names the test below it, within its describe blocks", () => {
    const { tags } = tagsOf(
      'describe("closed", () => {',
      '  test("one", () => {});',
      "});",
      "",
      "describe.each([",
      "  1,",
      '])("outer %i", () => {',
      '  test("a sibling", () => {',
      "    run();",
      "  });",
      "",
      "  // Requirement: CFG-1, CFG-2",
      "  test.each([",
      '    ["not the title"],',
      '  ])("takes %s", () => {});',
      "});",
    );
    expect(tags).toEqual([
      {
        ids: ["CFG-1", "CFG-2"],
        test: { file: "a.test.ts", titles: ["outer %i", "takes %s"] },
      },
    ]);
  });

  test("names a describe block, without the part of its title that says why it is skipped", () => {
    const { tags } = tagsOf(
      "// Requirement: CFG-1",
      'describe.skipIf(why !== "")(',
      '  `a ${name} sandbox${why === "" ? "" : ` (${why})`}`,',
      "  () => {},",
      ");",
    );
    expect(tags[0]?.test.titles).toEqual(["a … sandbox"]);
  });

  test("is refused if it is misspelled or not directly above a test", () => {
    const { tags, problems } = tagsOf(
      "// Requirements: CFG-1",
      'test("plans", () => {});',
      "// Requirement: CFG-1",
      "",
      'test("plans", () => {});',
    );
    expect(tags).toEqual([]);
    expect(problems).toEqual([
      expect.stringMatching(/^a\.test\.ts:1: write "\/\/ Requirement: /),
      expect.stringMatching(/^a\.test\.ts:3: place the tag directly above/),
    ]);
  });
});
