import { describe, expect, test } from "vitest";
import { blacklistedCommand, defaultBlacklist } from "./command-blacklist.ts";

describe("the command blacklist", () => {
  // Requirement: KIT-3
  test.each([
    ["rm -rf x", "rm"],
    ["/bin/rm x", "rm"],
    ["./../bin/RM x", "rm"],
    ["RM.EXE x", "rm"],
    ["mkfs.ext4 /dev/sda", "mkfs.ext4"],
    ["env rm x", "rm"],
    ["env -i A=1 B=2 /bin/rm x", "rm"],
    ["env -u A rm x", "rm"],
    ["sudo -u root rm x", "rm"],
    ["nice -n 5 rm x", "rm"],
    ["nohup setsid rm x", "rm"],
    ["timeout -k 5 10 rm x", "rm"],
    ["timeout --signal=KILL 10 rm x", "rm"],
    ["xargs -n 1 rm", "rm"],
    ["busybox rm x", "rm"],
    ["stdbuf -o L dd if=a", "dd"],
    ["flock lockfile rm x", "rm"],
    ["env env env env env kill 1", "kill"],
    ["find . -name x -exec rm {} ;", "rm"],
    ["find . -delete", "find -delete"],
  ])("refuses %s", (line, name) => {
    expect(blacklistedCommand(line.split(" "), defaultBlacklist)).toBe(name);
  });

  // Requirement: KIT-3
  test.each([
    [["sh", "-c", "ls; rm -r x"], "rm"],
    [["bash", "-lc", 'echo $("r"m x)'], "rm"],
    [["sh", "-c", "r\\m x"], "rm"],
    [["/bin/dash", "-ec", "true&&/bin/rm x"], "rm"],
    [["env", "-S", "rm -r x"], "rm"],
    [["env", "-S rm -r x"], "rm"],
    [["sudo", "sh", "-c", "shutdown now"], "shutdown"],
  ])("refuses %j", (argv, name) => {
    expect(blacklistedCommand(argv, defaultBlacklist)).toBe(name);
  });

  test.each(["ls rm", "grep -r rm .", "echo kill", "timeout 5 ls", "env A=rm ls", "python3 rm.py"])(
    "permits %s",
    (line) => {
      expect(blacklistedCommand(line.split(" "), defaultBlacklist)).toBeUndefined();
    },
  );

  // Requirement: KIT-3
  test("is replaced by the list of the agent", () => {
    expect(blacklistedCommand(["rm", "x"], ["Curl"])).toBeUndefined();
    expect(blacklistedCommand(["/usr/bin/curl"], ["Curl"])).toBe("curl");
    expect(blacklistedCommand(["rm", "x"], [])).toBeUndefined();
  });

  test("ends on a command that is nested without end", () => {
    const endless = Array.from({ length: 1_000 }, () => "env");
    expect(blacklistedCommand(endless, defaultBlacklist)).toBe("env");
    expect(blacklistedCommand([], defaultBlacklist)).toBeUndefined();
    expect(blacklistedCommand(["constructor", "rm"], defaultBlacklist)).toBeUndefined();
  });
});
