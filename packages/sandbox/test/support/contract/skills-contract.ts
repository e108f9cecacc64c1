import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { collect } from "../../../src/files/collect.ts";
import { snapshotWorkspace } from "../../../src/files/workspace-archive.ts";
import { readText, writeFile as writeInside } from "../../../src/files/workspace-files.ts";
import type { SandboxBench } from "./sandbox-bench.ts";
import { limitsOf, signal } from "./sandbox-bench.ts";

/** Tests how skills are mounted into a workspace. */
export function skillsContract(bench: () => SandboxBench): void {
  // Requirement: CFG-17
  describe("with skills", () => {
    const line = "print('drawn by a skill')\n";
    let skillsDir = "";

    beforeAll(async () => {
      skillsDir = join(bench().folder, "mounted");
      await mkdir(join(skillsDir, "tables"), { recursive: true });
      await writeFile(join(skillsDir, "tables/draw.py"), line);
      for (const path of [".", "tables"]) await chmod(join(skillsDir, path), 0o755);
    });

    const sh = async (script: string, options: { readonly readOnly?: true } = {}) => {
      const command = { argv: ["/bin/sh", "-c", script], limits: limitsOf(), skillsDir };
      const { text } = await collect(bench().box, { ...command, ...options }, signal);
      return text("stdout") + text("stderr");
    };
    const boxWithSkills = () => ({
      isolation: bench().box.isolation,
      exec: (command: Parameters<SandboxBench["box"]["exec"]>[0], until: AbortSignal) =>
        bench().box.exec({ ...command, skillsDir }, until),
    });

    test("runs and reads their files, also over a workspace that is read-only", async () => {
      expect(await sh("python3 skills/tables/draw.py")).toBe("drawn by a skill\n");
      expect(await sh("cat skills/tables/draw.py", { readOnly: true })).toBe(line);
      const request = { path: "skills/tables/draw.py", offset: 0, limit: undefined };
      const read = await readText(boxWithSkills(), request, signal);
      expect(read).toMatchObject({ kind: "done", text: line });
    });

    test("changes, adds, and removes none of them", async () => {
      for (const script of [
        "echo x > skills/tables/draw.py",
        "echo x > skills/x",
        "rm -rf skills/tables",
        "mv skills away",
        "rmdir skills",
      ]) {
        expect(await sh(script)).toMatch(/Read-only file system|busy|Permission denied/);
      }
      const written = await writeInside(boxWithSkills(), "skills/x", Buffer.from("x"), signal);
      expect(written.kind).toBe("refused");
      expect(await sh("cat skills/tables/draw.py")).toBe(line);
    });

    test("has none of them in commands without skills, and in snapshots", async () => {
      await sh("cat skills/tables/draw.py");
      expect((await bench().run(["ls", "-A", "skills"])).text("stdout")).toBe("");
      const limits = { bytes: 2 ** 20, files: 1_000 };
      const chunks = await Array.fromAsync(snapshotWorkspace(bench().box, limits, signal));
      expect(Buffer.concat(chunks).toString("latin1")).not.toContain("drawn by a skill");
    });

    test("has them also after a command without skills has replaced their folder", async () => {
      const other = "mkdir -p tables && echo \"print('forged')\" > tables/draw.py";
      for (const replace of ["mv skills away", "rmdir skills"]) {
        expect(await sh("python3 skills/tables/draw.py")).toBe("drawn by a skill\n");
        await bench().run(["/bin/sh", "-c", `${replace} && mkdir skills && cd skills && ${other}`]);
        expect(await sh("python3 skills/tables/draw.py")).toBe("drawn by a skill\n");
        await bench().run(["rm", "-rf", "skills/tables", "away"]);
      }
    });

    test("says what is in their way, if the workspace has an entry of that name", async () => {
      await bench().run(["/bin/sh", "-c", "rmdir skills; ln -s /etc skills"]);
      const command = { argv: ["true"], limits: limitsOf(), skillsDir };
      await expect(collect(bench().box, command, signal)).rejects.toThrow(
        /has an entry "skills" that is no folder/,
      );
      await bench().run(["rm", "skills"]);
    });
  });
}
