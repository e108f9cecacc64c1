import { expect, test } from "vitest";
import { denied, missing } from "./seccomp-calls.ts";
import { seccompProfile } from "./seccomp-profile.ts";

interface Profile {
  readonly syscalls: readonly {
    readonly names: readonly string[];
    readonly errnoRet: number;
    readonly args?: readonly {
      readonly index: number;
      readonly value: number;
      readonly valueTwo: number;
    }[];
  }[];
}

const { syscalls } = seccompProfile("x64") as Profile;

/** Calls that are answered so whatever their arguments. */
function refused(errno: number): readonly string[] {
  return syscalls
    .filter(({ errnoRet, args }) => errnoRet === errno && args === undefined)
    .flatMap(({ names }) => names);
}

test("refuses whatever the program of bubblewrap refuses, with the same answers", () => {
  expect(refused(1)).toEqual(Object.keys(denied));
  expect(refused(38)).toEqual(Object.keys(missing));
});

test("refuses every family of sockets but unix and inet", () => {
  const families = syscalls
    .filter(({ names }) => names.includes("socket"))
    .map(({ args }) => args?.[0]?.valueTwo);
  for (const permitted of [1, 2, 10]) expect(families).not.toContain(permitted);
  for (const netlinkPacketVsock of [16, 17, 40]) expect(families).toContain(netlinkPacketVsock);
});

test("refuses each kind of new namespace by itself", () => {
  const clones = syscalls.filter(({ names }) => names.includes("clone"));
  const flags = clones.map(({ args }) => args?.[0]?.valueTwo ?? 0);
  expect(flags.reduce((all, flag) => all | flag, 0)).toBe(0x7e02_0080);
});

test("refuses every personality but the usual one and the question for the present one", () => {
  const rules = syscalls.filter(({ names }) => names.includes("personality"));
  const isRefused = (persona: number) =>
    rules.some(({ args: [arg] = [] }) => {
      const mask = BigInt(arg?.value ?? 0);
      return (BigInt(persona) & mask) === BigInt(arg?.valueTwo ?? 0);
    });
  const refusedOnes = [1, 0x0040000, 0x0400000, 0x8000_0000, 0xffff_fffe, 0x7fff_ffff, 0xfff7_ffff];
  expect(refusedOnes.filter((persona) => !isRefused(persona))).toEqual([]);
  expect([0, 0xffff_ffff].filter(isRefused)).toEqual([]);
});

test("is not made up for an architecture that is not known", () => {
  expect(seccompProfile("mips")).toBeUndefined();
});
