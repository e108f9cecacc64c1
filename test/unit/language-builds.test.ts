import { expect, test } from "vitest";
import { build, prepared } from "../system/support/language-providers.ts";

test("a language without its toolchain is skipped with the reason", async () => {
  const made = await prepared(() => build("no-such-toolchain", ["build"]).then(() => ({})), true);
  expect(made).toEqual({
    kind: "missing",
    reason: expect.stringContaining("no-such-toolchain"),
  });
});

test.each([
  ["fails", "node", ["-e", "process.exit(3)"], /Command failed/],
  ["lacks one of its own programs", "./no-such-folder/program", [], /ENOENT/],
])("a build that %s fails the tests of its language", async (_, program, args, why) => {
  const making = prepared(() => build(program, args).then(() => ({})), true);
  await expect(making).rejects.toThrow(why);
});
