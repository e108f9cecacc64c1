import type { SyscallTable } from "./seccomp-calls.ts";
import {
  syscallTables,
  errors,
  families,
  newNamespaces,
  terminalInjections,
} from "./seccomp-calls.ts";

/** An instruction of classic BPF. */
interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

const loadWord = 0x20;
const andWith = 0x54;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const returnVerdict = 0x06;

/** Offsets in the kernel's `seccomp_data`. Those of arguments select the lower half, on a little-endian machine. */
const offsets = { call: 0, architecture: 4, first: 16, second: 24 } as const;

const allow = 0x7fff_0000;
const killProcess = 0x8000_0000;
const errno = (number: number) => 0x0005_0000 | number;

/** This bit marks calls of the x32 ABI. */
const x32 = 0x4000_0000;
const personalities = [0, 0xffff_ffff];

/**
 * Returns the seccomp filter for bwrap, as a BPF program. It refuses calls that widen the attack surface of the kernel
 * (namespaces, mounts, tracing, keys, BPF, io_uring), and all sockets except unix and inet. `architecture` is Node's name of
 * it; undefined if it is unknown.
 */
export function seccompProgram(architecture: string): Uint8Array | undefined {
  const calls = syscallTables[architecture];
  return calls && encode(program(calls, architecture === "x64"));
}

function program(calls: SyscallTable, hasX32: boolean): readonly Instruction[] {
  return [
    load(offsets.architecture),
    ...unlessEqual(calls.audit, [answer(killProcess)]),
    load(offsets.call),
    ...(hasX32 ? ifAtLeast(x32, [answer(errno(errors.ENOSYS))]) : []),
    ...calls.missingCalls.flatMap((call) => ifEqual(call, [answer(errno(errors.ENOSYS))])),
    ...calls.deniedCalls.flatMap((call) => ifEqual(call, [answer(errno(errors.EPERM))])),
    ...ifEqual(calls.clone, [
      load(offsets.first),
      { code: andWith, jt: 0, jf: 0, k: newNamespaces },
      ...unlessEqual(0, [answer(errno(errors.EPERM))]),
      answer(allow),
    ]),
    ...ifEqual(calls.socket, [
      load(offsets.first),
      ...Object.values(families).flatMap((family) => ifEqual(family, [answer(allow)])),
      answer(errno(errors.EAFNOSUPPORT)),
    ]),
    ...ifEqual(calls.ioctl, [
      load(offsets.second),
      ...terminalInjections.flatMap((request) => ifEqual(request, [answer(errno(errors.EPERM))])),
      answer(allow),
    ]),
    ...ifEqual(calls.personality, [
      load(offsets.first),
      ...personalities.flatMap((persona) => ifEqual(persona, [answer(allow)])),
      answer(errno(errors.EPERM)),
    ]),
    answer(allow),
  ];
}

function load(offset: number): Instruction {
  return { code: loadWord, jt: 0, jf: 0, k: offset };
}

function answer(verdict: number): Instruction {
  return { code: returnVerdict, jt: 0, jf: 0, k: verdict };
}

function ifEqual(value: number, then: readonly Instruction[]): readonly Instruction[] {
  return [{ code: jumpIfEqual, jt: 0, jf: then.length, k: value }, ...then];
}

function unlessEqual(value: number, then: readonly Instruction[]): readonly Instruction[] {
  return [{ code: jumpIfEqual, jt: then.length, jf: 0, k: value }, ...then];
}

function ifAtLeast(value: number, then: readonly Instruction[]): readonly Instruction[] {
  return [{ code: jumpIfAtLeast, jt: 0, jf: then.length, k: value }, ...then];
}

function encode(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(instructions.length * 8));
  for (const [index, { code, jt, jf, k }] of instructions.entries()) {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, jt);
    bytes.setUint8(index * 8 + 3, jf);
    bytes.setUint32(index * 8 + 4, k >>> 0, true);
  }
  return new Uint8Array(bytes.buffer);
}
