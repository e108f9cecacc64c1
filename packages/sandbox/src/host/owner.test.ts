import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isOwnerGone, ownerName } from "./owner.ts";

test("a live process is not gone, but a process with its id and another start time is", () => {
  const own = ownerName() ?? "";
  expect(isOwnerGone(own)).toBe(false);
  expect(isOwnerGone(`${own}1`)).toBe(true);
});

test("a missing process is gone, but an unreadable one is not", async () => {
  await using proc = await mkdtempDisposable(join(tmpdir(), "reeve-proc-"));
  expect(isOwnerGone("7.100", proc.path)).toBe(true);
  // A folder in place of the file cannot be read, not even by root.
  await mkdir(join(proc.path, "7", "stat"), { recursive: true });
  expect(isOwnerGone("7.100", proc.path)).toBe(false);
  await mkdir(join(proc.path, "8"));
  await writeFile(join(proc.path, "8", "stat"), `8 (a name) S${" 1".repeat(18)} 100 1`);
  expect(isOwnerGone("8.100", proc.path)).toBe(false);
  expect(isOwnerGone("8.101", proc.path)).toBe(true);
});
