import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sdkSteps } from "../../scripts/release/sdk-steps.ts";

const root = join(import.meta.dirname, "../..");

test.each(sdkSteps)("the package for $name contains the license", ({ folder }) => {
  const license = readFileSync(join(root, folder, "LICENSE"), "utf8");
  expect(license).toBe(readFileSync(join(root, "LICENSE"), "utf8"));
});
