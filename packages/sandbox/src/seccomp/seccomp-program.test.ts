import { describe, expect, test } from "vitest";
import { seccompProgram } from "./seccomp-program.ts";

const allow = 0x7fff0000;
const kill = 0x80000000;
const errno = (number: number) => 0x00050000 + number;
const audit = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Runs the program as the kernel does, with 32-bit loads from the data of a system call. */
function verdict(
  architecture: "x64" | "arm64",
  call: number,
  args: readonly number[] = [],
  actualAudit: number = audit[architecture],
): number {
  const program = seccompProgram(architecture);
  if (program === undefined) throw new Error("no program");
  const view = new DataView(program.buffer);
  const words = new Map([
    [0, call],
    [4, actualAudit],
    ...args.map((value, index) => [16 + index * 8, value] as const),
  ]);
  let accumulator = 0;
  for (let at = 0; at * 8 < program.length; at++) {
    const code = view.getUint16(at * 8, true);
    const k = view.getUint32(at * 8 + 4, true);
    const jump = (isMet: boolean) => view.getUint8(at * 8 + (isMet ? 2 : 3));
    if (code === 0x20) accumulator = words.get(k) ?? 0;
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0;
    else if (code === 0x15) at += jump(accumulator === k);
    else if (code === 0x35) at += jump(accumulator >= k);
    else if (code === 0x06) return k;
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the program ran off its end");
}

describe("the seccomp filter", () => {
  test("permits the calls that all programs need", () => {
    for (const call of [0, 1, 3, 9, 59, 60, 231, 257]) expect(verdict("x64", call)).toBe(allow);
    for (const call of [56, 57, 63, 64, 93, 221]) expect(verdict("arm64", call)).toBe(allow);
  });

  test.each([
    ["ptrace", 101, 117],
    ["mount", 165, 40],
    ["unshare", 272, 97],
    ["setns", 308, 268],
    ["bpf", 321, 280],
    ["keyctl", 250, 219],
    ["userfaultfd", 323, 282],
    ["perf_event_open", 298, 241],
    ["kexec_load", 246, 104],
    ["move_mount", 429, 429],
    ["pidfd_getfd", 438, 438],
  ])("refuses %s", (_, x64, arm64) => {
    expect(verdict("x64", x64)).toBe(errno(1));
    expect(verdict("arm64", arm64)).toBe(errno(1));
  });

  test("reports clone3 and io_uring as missing", () => {
    for (const call of [425, 426, 427, 435]) {
      expect(verdict("x64", call)).toBe(errno(38));
      expect(verdict("arm64", call)).toBe(errno(38));
    }
  });

  test("permits clone for threads and processes, but not for namespaces", () => {
    for (const [architecture, clone] of [
      ["x64", 56],
      ["arm64", 220],
    ] as const) {
      expect(verdict(architecture, clone, [0x3d0f00])).toBe(allow);
      expect(verdict(architecture, clone, [17])).toBe(allow);
      for (const flag of [
        0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000,
      ]) {
        expect(verdict(architecture, clone, [flag | 17])).toBe(errno(1));
      }
    }
  });

  test("permits only unix and inet sockets", () => {
    for (const family of [1, 2, 10]) expect(verdict("x64", 41, [family])).toBe(allow);
    for (const family of [0, 16, 17, 38, 40]) expect(verdict("x64", 41, [family])).toBe(errno(97));
  });

  test("refuses terminal injection and other personalities", () => {
    expect(verdict("x64", 16, [0, 0x5413])).toBe(allow);
    expect(verdict("x64", 16, [0, 0x5412])).toBe(errno(1));
    expect(verdict("x64", 135, [0xffffffff])).toBe(allow);
    expect(verdict("x64", 135, [0x40000])).toBe(errno(1));
  });

  test("kills a process that uses another architecture, and reports x32 calls as missing", () => {
    expect(verdict("x64", 1, [], 0x40000003)).toBe(kill);
    expect(verdict("x64", 0x40000000 + 1)).toBe(errno(38));
  });

  test("exists for known architectures only", () => {
    expect(seccompProgram("mips")).toBeUndefined();
    expect(seccompProgram("x64")?.length).toBeLessThan(4096 * 8);
  });
});
