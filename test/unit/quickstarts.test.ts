import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const readme = readFileSync(join(root, "README.md"), "utf8");

// test/clients runs each of them as it is.
test.each([
  "sdk/typescript/quickstart.mjs",
  "sdk/python/quickstart.py",
  "sdk/go/examples/quickstart/main.go",
  "sdk/rust/examples/quickstart.rs",
  "sdk/java/Quickstart.java",
])("the README shows %s as it is", (path) => {
  expect(readme).toContain(`\n${readFileSync(join(root, path), "utf8")}\`\`\`\n`);
});
