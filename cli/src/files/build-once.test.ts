import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildOnce } from "./build-once.ts";

const never = new AbortController().signal;

/** A folder that is built from one text, into one file of that name. */
function builder(folder = join(mkdtempSync(join(tmpdir(), "reeve-build-")), "dist")) {
  const state = { text: "first", built: [] as string[], problem: undefined as string | undefined };
  const build = async (into: string) => {
    state.built.push(state.text);
    mkdirSync(into);
    writeFileSync(join(into, state.text), state.text);
    return state.problem;
  };
  const digest = () => `digest of ${state.text}`;
  return {
    folder,
    state,
    digest,
    run: () => buildOnce({ folder, digest, build, onWait: () => undefined }, never),
  };
}

const filesIn = (folder: string) => readdirSync(folder).filter((name) => !name.includes("sha256"));

test("builds once while the sources stay the same", async () => {
  const { folder, state, run } = builder();
  expect(await run()).toBeUndefined();
  expect(await run()).toBeUndefined();
  expect(state.built).toEqual(["first"]);
  expect(readFileSync(join(folder, "first"), "utf8")).toBe("first");
});

test("replaces the whole build when the sources have changed, and leaves nothing beside it", async () => {
  const { folder, state, run } = builder();
  await run();
  state.text = "second";
  await run();
  expect(filesIn(folder)).toEqual(["second"]);
  expect(readdirSync(`${folder}.work`)).toEqual([]);
});

test("removes what a build left that was killed", async () => {
  const { folder, run } = builder();
  mkdirSync(join(`${folder}.work`, "next-1", "assets"), { recursive: true });
  mkdirSync(join(`${folder}.work`, "last-1"));
  await run();
  expect(readdirSync(`${folder}.work`)).toEqual([]);
});

test("two that need the same build at once share one", async () => {
  const one = builder();
  const other = builder(one.folder);
  expect(await Promise.all([one.run(), other.run()])).toEqual([undefined, undefined]);
  expect([...one.state.built, ...other.state.built]).toEqual(["first"]);
});

test("a process that stood still while it built keeps the build of the one that took its lock", async () => {
  const folder = join(mkdtempSync(join(tmpdir(), "reeve-build-")), "dist");
  const other = builder(folder);
  const build = async (into: string) => {
    utimesSync(join(`${folder}.work`, "lock"), 1, 1);
    await other.run();
    mkdirSync(into);
    writeFileSync(join(into, "late"), "late");
    return undefined;
  };
  const { digest } = other;
  const late = buildOnce({ folder, digest, build, onWait: () => undefined }, never);
  expect(await late).toBeUndefined();
  expect(filesIn(folder)).toEqual(["first"]);
});

test("a build that fails says why, keeps the last one, and is tried again", async () => {
  const { folder, state, run } = builder();
  await run();
  Object.assign(state, { text: "second", problem: "no space" });
  expect(await run()).toBe("no space");
  expect(filesIn(folder)).toEqual(["first"]);
  state.problem = undefined;
  await run();
  expect(filesIn(folder)).toEqual(["second"]);
});

test("a build without a record of its sources is built again", async () => {
  const { folder, state, run } = builder();
  mkdirSync(folder);
  writeFileSync(join(folder, "old"), "");
  await run();
  expect(state.built).toEqual(["first"]);
  expect(existsSync(join(folder, "old"))).toBe(false);
});
