import { expect, test } from "vitest";
import { candidateRuntimes } from "./engine-traits.ts";

const plain = { runtimes: ["io.containerd.runc.v2", "runc"] };
const guarded = { runtimes: ["runc", "runsc"] };

test("gVisor is tried first if the engine has it, then the engine's default runtime", () => {
  expect(candidateRuntimes(guarded, undefined)).toEqual(["runsc", undefined]);
  expect(candidateRuntimes(plain, undefined)).toEqual([undefined]);
});

test("a named runtime is the only one that is tried", () => {
  expect(candidateRuntimes(guarded, "runsc")).toEqual(["runsc"]);
  expect(candidateRuntimes(guarded, "runc")).toEqual(["runc"]);
});

test("an unknown runtime is refused with a list of the known ones", () => {
  expect(() => candidateRuntimes(plain, "runsc")).toThrow(
    "no runtime runsc, only io.containerd.runc.v2, runc",
  );
});
