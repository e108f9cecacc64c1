import { randomUUID } from "node:crypto";
import { existsSync, globSync, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { controlGroups } from "../src/bubblewrap/control-groups.ts";
import { defaultLimits } from "../src/port.ts";

const groups = controlGroups();
const why = groups === undefined ? " (skipped: no control groups can be made here)" : "";

test.skipIf(groups === undefined)(
  `a control group that cannot be taken away is told, and taken away once it can be${why}`,
  async () => {
    if (groups === undefined) return;
    const name = `test-${randomUUID()}`;
    groups.open(name, defaultLimits);
    // A group with another one below it is busy.
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
