import { expect, test } from "vitest";
import { fileLengths } from "../support/traced-disk.ts";

const opened = (path: string, flags: string) =>
  `7  openat(AT_FDCWD</tmp>, "${path}", ${flags}, 0600) = 9<${path}>`;
const wrote = (path: string, bytes: number, at: number) =>
  `7  pwrite64(9<${path}>, ""..., ${bytes}, ${at}) = ${bytes}`;

test.each<readonly [string, readonly string[], Readonly<Record<string, readonly number[]>>]>([
  ["what is not synced is lost", [wrote("/a", 10, 0)], { "/a": [10, 0] }],
  [
    "what is synced is kept, with what was there before the program started",
    [wrote("/a", 10, 90), "7  fsync(9</a> <unfinished ...>", wrote("/a", 5, 100)],
    { "/a": [105, 100] },
  ],
  [
    "a file that is emptied without a sync is lost",
    [opened("/a", "O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC")],
    { "/a": [0, 0] },
  ],
  ["writes that wait for the disk are kept", [opened("/a", "O_WRONLY|O_TRUNC|O_SYNC")], {}],
  [
    "files keep their state when they, or their folders, are renamed",
    [wrote("/d/a", 10, 0), '8  renameat(AT_FDCWD</>, "/d", AT_FDCWD</>, "/e") = 0'],
    { "/e/a": [10, 0] },
  ],
  [
    "a file that is shortened and written again has the rest unsynced",
    [
      wrote("/a", 10, 0),
      "7  fdatasync(9</a>) = 0",
      "7  ftruncate(9</a>, 4) = 0",
      wrote("/a", 3, 4),
    ],
    { "/a": [7, 4] },
  ],
  [
    "a file that was removed has nothing to lose",
    [wrote("/a", 10, 0), '7  unlinkat(AT_FDCWD</>, "/a", 0) = 0'],
    {},
  ],
])("after a loss of power, %s", (_, lines, lengths) => {
  const found = [...fileLengths(lines.join("\n"))].map(
    ([path, { written, synced }]) => [path, [written, synced]] as const,
  );
  expect(Object.fromEntries(found)).toEqual(lengths);
});
