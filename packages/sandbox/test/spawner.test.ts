import { existsSync, readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import type { Spawner } from "../src/bubblewrap/spawner.ts";
import { spawnerOf } from "../src/bubblewrap/spawner.ts";
import { sandboxIdentity } from "../src/host/identity.ts";
import { systemProgram } from "../src/host/system-view.ts";

const python = systemProgram("python3");
const isHere = process.platform === "linux" && python !== undefined;
const why = isHere ? "" : " (skipped: there is no python3 here)";
const identity = sandboxIdentity(64_017);

async function running(): Promise<Spawner> {
  const spawner = await spawnerOf(python ?? "");
  if (spawner === undefined) throw new Error("no spawner starts here");
  return spawner;
}

async function shell(script: string) {
  const spawner = await running();
  return await spawner.spawn("/bin/sh", ["-c", script], identity, 4);
}

function statusOf(pid: number): string {
  return readFileSync(`/proc/${pid}/status`, "utf8");
}

test.skipIf(!isHere)(`a program gets its descriptors and nothing else${why}`, async () => {
  const script = "cat; cat <&3; ls /proc/self/fd | wc -l; cat /proc/self/environ | wc -c; pwd";
  const started = await shell(script);
  started.pipes[0]?.end("input\n");
  started.pipes[3]?.end("more\n");
  const output = await text(started.pipes[1] as Readable);
  // Its own four, and the folder that `ls` reads.
  expect(output.split("\n").slice(0, 3)).toEqual(["input", "more", "5"]);
  expect(output).not.toContain("HOME");
  expect(output).toContain("\n/\n");
  await started.ended;
});

test.skipIf(!isHere)(`a program runs as its user and ignores no signal${why}`, async () => {
  const started = await shell("cat /proc/self/status");
  const status = await text(started.pipes[1] as Readable);
  expect(status).toMatch(new RegExp(`^Uid:\\t${identity.uid}\\t${identity.uid}\\t`, "m"));
  expect(status).toMatch(/^SigIgn:\t0+$/m);
  expect(status).toMatch(/^SigBlk:\t0+$/m);
});

test.skipIf(!isHere)(`a program that is killed has ended${why}`, async () => {
  const started = await shell("exec cat");
  expect(started.hasEnded).toBe(false);
  started.kill();
  await started.ended;
  expect(started.hasEnded).toBe(true);
  expect(existsSync(`/proc/${started.pid}`)).toBe(false);
});

test.skipIf(!isHere)(`a program that does not exist says so and ends${why}`, async () => {
  const spawner = await running();
  const started = await spawner.spawn("/no/such/program", [], identity, 3);
  const complaint = text(started.pipes[2] as Readable);
  await started.ended;
  expect(await complaint).toContain("/no/such/program did not run");
});

test.skipIf(!isHere)(`a program may be killed at the moment at which it ends${why}`, async () => {
  const started = await Promise.all(Array.from({ length: 4 }, () => shell("exec cat")));
  const [, parent] = /^PPid:\t(\d+)$/m.exec(statusOf(started[0]?.pid ?? 0)) ?? [];
  // A spawner that waits for a message learns of both at once.
  const path = readFileSync(`/proc/${parent}/cmdline`, "utf8").split("\0").at(-2) ?? "";
  const connections = () => readdirSync(`/proc/${parent}/fd`).length;
  const before = connections();
  const silent = connect({ path });
  await expect.poll(connections).toBe(before + 1);
  for (const each of started) {
    each.pipes[0]?.destroy();
    each.kill();
  }
  for (const { pid } of started) await expect.poll(() => statusOf(pid)).toContain("State:\tZ");
  silent.destroy();
  await Promise.all(started.map(({ ended }) => ended));
  const next = await shell("echo $PPID");
  expect(await text(next.pipes[1] as Readable)).toBe(`${parent}\n`);
});

test.skipIf(!isHere)(`many programs start at once${why}`, async () => {
  const started = await Promise.all(
    Array.from({ length: 60 }, (_, index) => shell(`echo ${index}`)),
  );
  const output = await Promise.all(started.map(({ pipes }) => text(pipes[1] as Readable)));
  expect(output).toEqual(started.map((_, index) => `${index}\n`));
});

test.skipIf(!isHere)(`a spawner that was killed is replaced${why}`, async () => {
  const before = await running();
  const started = await shell("exec cat");
  const [, parent] = /^PPid:\t(\d+)$/m.exec(statusOf(started.pid)) ?? [];
  process.kill(Number(parent), "SIGKILL");
  await started.ended;
  // Programs that are not bound to their parent go on: this one until its input ends.
  started.pipes[0]?.destroy();
  await vi.waitFor(() => expect(before.isGone).toBe(true), 5_000);
  const next = await shell("echo again");
  expect(await text(next.pipes[1] as Readable)).toBe("again\n");
});
