import { randomUUID } from "node:crypto";
import { existsSync, globSync, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
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
