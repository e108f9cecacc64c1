import { expect, test } from "vitest";
import { candidateRuntimes } from "./engine-traits.ts";

const plain = { runtimes: ["io.containerd.runc.v2", "runc"] };
const guarded = { runtimes: ["runc", "runsc"] };

test("gVisor is tried first where the engine has it, then the engine's own runtime", () => {
  expect(candidateRuntimes(guarded, undefined)).toEqual(["runsc", undefined]);
  expect(candidateRuntimes(plain, undefined)).toEqual([undefined]);
});

test("a runtime that is named is the only one that is tried", () => {
  expect(candidateRuntimes(guarded, "runsc")).toEqual(["runsc"]);
  expect(candidateRuntimes(guarded, "runc")).toEqual(["runc"]);
});

test("a runtime that the engine does not have is refused with those that it has", () => {
  expect(() => candidateRuntimes(plain, "runsc")).toThrow(
    "no runtime runsc, but io.containerd.runc.v2, runc",
  );
});
