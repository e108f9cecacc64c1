import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isOwnerGone, ownerName } from "./owner.ts";

test("a process that lives is not gone, and one with its id that began at another time is", () => {
  const own = ownerName() ?? "";
  expect(isOwnerGone(own)).toBe(false);
  expect(isOwnerGone(`${own}1`)).toBe(true);
});

test("a process is gone when it is not there, but not when it may not be looked at", async () => {
  await using proc = await mkdtempDisposable(join(tmpdir(), "reeve-proc-"));
  expect(isOwnerGone("7.100", proc.path)).toBe(true);
  // Where a folder stands for the file, it cannot be read, whoever tries.
  await mkdir(join(proc.path, "7", "stat"), { recursive: true });
  expect(isOwnerGone("7.100", proc.path)).toBe(false);
  await mkdir(join(proc.path, "8"));
  await writeFile(join(proc.path, "8", "stat"), `8 (a name) S${" 1".repeat(18)} 100 1`);
  expect(isOwnerGone("8.100", proc.path)).toBe(false);
  expect(isOwnerGone("8.101", proc.path)).toBe(true);
});
