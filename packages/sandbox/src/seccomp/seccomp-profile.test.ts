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

/** Calls that fail with `errno` for all arguments. */
function refused(errno: number): readonly string[] {
  return syscalls
    .filter(({ errnoRet, args }) => errnoRet === errno && args === undefined)
    .flatMap(({ names }) => names);
}

test("refuses the same calls as the program for bubblewrap, with the same errors", () => {
  expect(refused(1)).toEqual(Object.keys(denied));
  expect(refused(38)).toEqual(Object.keys(missing));
});

test("refuses all socket families except unix and inet", () => {
  const families = syscalls
    .filter(({ names }) => names.includes("socket"))
    .map(({ args }) => args?.[0]?.valueTwo);
  for (const permitted of [1, 2, 10]) expect(families).not.toContain(permitted);
  for (const netlinkPacketVsock of [16, 17, 40]) expect(families).toContain(netlinkPacketVsock);
});

test("refuses each kind of new namespace", () => {
  const clones = syscalls.filter(({ names }) => names.includes("clone"));
  const flags = clones.map(({ args }) => args?.[0]?.valueTwo ?? 0);
  expect(flags.reduce((all, flag) => all | flag, 0)).toBe(0x7e02_0080);
});

test("refuses all personalities except the default and the query of the current one", () => {
  const rules = syscalls.filter(({ names }) => names.includes("personality"));
  const isRefused = (persona: number) =>
    rules.some(({ args: [arg] = [] }) => {
      const mask = BigInt(arg?.value ?? 0);
      return (BigInt(persona) & mask) === BigInt(arg?.valueTwo ?? 0);
    });
  const examples = [1, 0x0040000, 0x0400000, 0x8000_0000, 0xffff_fffe, 0x7fff_ffff, 0xfff7_ffff];
  expect(examples.filter((persona) => !isRefused(persona))).toEqual([]);
  expect([0, 0xffff_ffff].filter(isRefused)).toEqual([]);
});

test("is undefined for an unknown architecture", () => {
  expect(seccompProfile("mips")).toBeUndefined();
});
