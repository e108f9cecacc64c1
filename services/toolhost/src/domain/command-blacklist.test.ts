import { expect, test } from "vitest";
import { blacklisted, defaultBlacklist } from "./command-blacklist.ts";

test.each([
  [["rm", "-rf", "x"], "rm"],
  [["/bin/rm", "x"], "rm"],
  [["RM", "x"], "rm"],
  [["mkfs.ext4", "/dev/x"], "mkfs.ext4"],
  [["env", "A=1", "rm", "x"], "rm"],
  [["sudo", "-u", "root", "rm", "x"], "rm"],
  [["timeout", "5", "rm", "x"], "rm"],
  [["nice", "-n", "5", "/usr/bin/env", "rm", "x"], "rm"],
  [["busybox", "rm", "x"], "rm"],
  [["xargs", "-n", "1", "rm"], "rm"],
  [["sh", "-c", "ls; rm x"], "rm"],
  [["bash", "-lc", "echo $(rm x)"], "rm"],
])("%j comes down to %s", (argv, name) => {
  expect(blacklisted(argv, defaultBlacklist)).toBe(name);
});

test.each([[["ls", "rm"]], [["echo", "kill"]], [["python3", "rm.py"]], [["sh", "-c", "ls"]], [[]]])(
  "%j is not refused",
  (argv) => {
    expect(blacklisted(argv, defaultBlacklist)).toBeUndefined();
  },
);

test("an agent's own list replaces the default one", () => {
  expect(blacklisted(["rm", "x"], [])).toBeUndefined();
  expect(blacklisted(["curl", "x"], ["CURL"])).toBe("curl");
});
