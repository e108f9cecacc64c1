import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

// test/clients runs each of these files unchanged.
test.each([
  ["README.md", "sdk/typescript/quickstart.mjs"],
  ["docs/clients.md", "sdk/typescript/quickstart.mjs"],
  ["docs/clients.md", "sdk/python/quickstart.py"],
  ["docs/clients.md", "sdk/go/examples/quickstart/main.go"],
  ["docs/clients.md", "sdk/rust/examples/quickstart.rs"],
  ["docs/clients.md", "sdk/java/Quickstart.java"],
])("%s contains %s unchanged", (page, path) => {
  expect(read(page)).toContain(`\n${read(path)}\`\`\`\n`);
});

test("the project for Java in docs/clients.md depends on the version of this repository", () => {
  const coordinates = /<groupId>dev\.reeve<\/groupId>\s*<artifactId>.*\s*<version>.*/;
  const [published = ""] = coordinates.exec(read("sdk/java/pom.xml")) ?? [];
  const [used = ""] = coordinates.exec(read("docs/clients.md")) ?? [];
  expect(used).not.toBe("");
  expect(used.replace(/\s+/g, "")).toBe(published.replace(/\s+/g, ""));
});

test("the TypeScript quickstart is valid on the oldest Node of the client, which has no `using`", () => {
  const { engines } = JSON.parse(read("sdk/typescript/package.json")) as { engines: object };
  expect(engines).toEqual({ node: ">=22" });
  expect(read("sdk/typescript/quickstart.mjs")).not.toMatch(/^\s*(await )?using /m);
});
