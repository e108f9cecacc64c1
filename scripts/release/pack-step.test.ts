import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { missingProgram, packStep, run } from "./pack-step.ts";

test("a release contains no archive of an earlier one", () => {
  const root = mkdtempSync(join(tmpdir(), "reeve-pack-"));
  const output = join(root, "release");
  for (const folder of ["sdk/dist", "release"]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  writeFileSync(join(root, "sdk/dist/client-0.1.0.whl"), "earlier");
  const step = {
    folder: "sdk",
    pack: [["touch", "dist/client-0.2.0.whl"]],
    archives: ["dist/*.whl"],
  };
  expect(packStep(root, step, output)).toEqual([join(output, "client-0.2.0.whl")]);
  expect(readdirSync(output)).toEqual(["client-0.2.0.whl"]);
  // What publishes the client takes all archives of this folder.
  expect(readdirSync(join(root, "sdk/dist"))).toEqual(["client-0.2.0.whl"]);
});

function failureOf(...command: readonly string[]) {
  try {
    return run(command, tmpdir());
  } catch (error) {
    return missingProgram(error);
  }
}

test("a program that is not installed is named, and other errors are not mistaken for that", () => {
  expect(failureOf("reeve-no-such-program", "pack")).toBe("reeve-no-such-program");
  expect(failureOf("false")).toBeUndefined();
});
