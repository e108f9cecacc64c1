import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { collect } from "../files/collect.ts";
import type { SandboxDriver } from "../port.ts";
import { defaultLimits } from "../port.ts";
import { skillsMountPointOf } from "../host/skills-mount.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { maxCommands, WarmSandboxes } from "./warm-sandboxes.ts";

const never = new AbortController().signal;

/** Returns a driver whose sandboxes end each command with the number of the sandbox, from 0. */
function numbering({
  open = new Set<number>(),
  opening = (): { readonly skillsMountPoint?: string } => ({}),
} = {}): SandboxDriver {
  let opened = 0;
  return {
    name: "in memory",
    probe: () => Promise.reject(new Error("unexpected probe")),
    open: () => {
      const id = opened++;
      open.add(id);
      return Promise.resolve({
        ...opening(),
        sessionId: String(id),
        exec: async function* () {
          yield { kind: "end", reason: "exit", code: id, durationMs: 0 } as const;
        },
        settled: () => Promise.resolve(true),
        [Symbol.asyncDispose]: () => Promise.resolve(void open.delete(id)),
      });
    },
    list: () => Promise.resolve([]),
    destroy: () => Promise.resolve(),
  };
}

const limits = { ...defaultLimits, timeoutMs: 1_000 };

test("a sandbox is replaced after the maximum number of commands", async () => {
  const open = new Set<number>();
  await using warm = new WarmSandboxes(numbering({ open }), { idleMs: 60_000, maxIdle: 1 });
  const ranIn = async () =>
    (await collect(warm.sandboxFor("/w"), { argv: ["x"], limits }, never)).end.code;
  for (let count = 0; count < maxCommands; count++) expect(await ranIn()).toBe(0);
  expect(await ranIn()).toBe(1);
  expect([...open]).toEqual([1]);
});

// Requirement: CFG-17
test("a sandbox whose folder of skills was replaced while it started runs no second command", async () => {
  await using folder = await temporaryFolder();
  const { path } = folder;
  const skills = join(path, "skills");
  mkdirSync(skills);
  let starts = 0;
  const opening = () => {
    const skillsMountPoint = skillsMountPointOf(path) ?? "";
    // The first one has mounted them, and is not open yet.
    if (starts++ === 0) {
      renameSync(skills, join(path, "away"));
      mkdirSync(skills);
    }
    return { skillsMountPoint };
  };
  await using warm = new WarmSandboxes(numbering({ opening }), { idleMs: 60_000, maxIdle: 1 });
  const command = { argv: ["x"], limits, skillsDir: "/skills" };
  const ranIn = async () => (await collect(warm.sandboxFor(path), command, never)).end.code;
  expect([await ranIn(), await ranIn(), await ranIn()]).toEqual([0, 1, 1]);
});
