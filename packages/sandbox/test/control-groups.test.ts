import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, globSync, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { controlGroups } from "../src/bubblewrap/control-groups.ts";
import { defaultLimits } from "../src/port.ts";

const groups = controlGroups();
const why = groups === undefined ? " (skipped: control groups cannot be created here)" : "";

test.skipIf(groups === undefined)(
  `a busy control group is reported, and removed once it is free${why}`,
  async () => {
    if (groups === undefined) return;
    const name = `test-${randomUUID()}`;
    groups.open(name, defaultLimits);
    // A group with a child group is busy.
    const below = globSync(`/sys/fs/cgroup/{,memory/,pids/}reeve/${name}`).map((folder) =>
      join(folder, "below"),
    );
    for (const folder of below) mkdirSync(folder);
    try {
      await expect(groups.destroy(name)).rejects.toMatchObject({ kind: "unavailable" });
    } finally {
      for (const folder of below) if (existsSync(folder)) rmdirSync(folder);
    }
    await groups.destroy(name);
    expect(groups.list()).not.toContain(name);
  },
);

test.skipIf(groups === undefined)(
  `a process that has ended is not added, so that the failure of its program is reported${why}`,
  async () => {
    if (groups === undefined) return;
    const group = groups.open(`test-${randomUUID()}`, defaultLimits);
    const { pid } = spawnSync(process.execPath, ["--version"]);
    try {
      expect(() => group.add(pid)).not.toThrow();
    } finally {
      await group.remove();
    }
  },
);
