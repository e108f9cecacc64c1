import { chmodSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { openDataDir } from "./data-dir.ts";
import { serverAddress } from "../server-address.ts";

const newFolder = () => join(mkdtempSync(join(tmpdir(), "reeve-data-")), "data");

test("keeps one token, which only its owner can read and clients find", () => {
  const folder = newFolder();
  const first = openDataDir(folder);
  first[Symbol.dispose]();
  using second = openDataDir(folder);
  expect(second.token).toBe(first.token);
  expect(statSync(join(folder, "token")).mode & 0o777).toBe(0o600);
  expect(serverAddress({ dataDir: folder }, {}).token).toBe(first.token);
});

test("takes the rights of other users from a folder that exists", () => {
  const folder = newFolder();
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  using held = openDataDir(folder);
  expect(statSync(held.path).mode & 0o777).toBe(0o700);
});

test("one process at a time holds a data folder, and a refused one changes nothing", () => {
  const folder = newFolder();
  using held = openDataDir(folder);
  const lock = join(held.path, "lock");
  const [, start] = readFileSync(lock, "utf8").split(" ");
  expect(start).toMatch(/^\d+$/);
  // The parent of this process is another live process.
  const stat = readFileSync(`/proc/${process.ppid}/stat`, "utf8");
  const parentStart = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  writeFileSync(lock, `${process.ppid} ${parentStart}`);
  // A server opens the way to its workspaces for the user of the sandbox.
  chmodSync(folder, 0o710);
  expect(() => openDataDir(folder)).toThrow(
    `in use by process ${process.ppid}; stop that process, or use another folder with --data-dir and another address with --listen`,
  );
  expect(statSync(folder).mode & 0o777).toBe(0o710);
});

test("a process takes over the folder of a dead one, even if another process has its pid now", () => {
  const folder = newFolder();
  openDataDir(folder)[Symbol.dispose]();
  writeFileSync(join(folder, "lock"), `${process.ppid} 1`);
  expect(() => openDataDir(folder)[Symbol.dispose]()).not.toThrow();
});

test("a folder of an older version is upgraded, and one of a newer version is refused by name", () => {
  const folder = newFolder();
  openDataDir(folder)[Symbol.dispose]();
  const format = join(folder, "format");
  rmSync(format);
  openDataDir(folder)[Symbol.dispose]();
  expect(readFileSync(format, "utf8")).toBe("1\n");
  // A full disk leaves an empty file.
  writeFileSync(format, "");
  openDataDir(folder)[Symbol.dispose]();
  expect(readFileSync(format, "utf8")).toBe("1\n");
  for (const newer of ["2\n", "v2, sharded\n"]) {
    writeFileSync(format, newer);
    expect(() => openDataDir(folder)).toThrow(/of a newer version of Reeve .*--data-dir/);
    expect(readFileSync(format, "utf8")).toBe(newer);
  }
});

test("a folder that cannot be written is refused with its path and what to do", () => {
  // Its parent is a file, which fails for every user, also for root.
  const file = newFolder();
  writeFileSync(file, "");
  expect(() => openDataDir(join(file, "data"))).toThrow(
    /^data folder .*\/data cannot be written: .*; give it space and rights, or use another folder/,
  );
});
