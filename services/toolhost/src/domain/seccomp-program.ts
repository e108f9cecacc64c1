/** System calls that code in a sandbox never needs, and through which sandboxes are left. By architecture of Node. */
const denied: Readonly<Record<string, readonly number[]>> = {
  // ptrace, bpf, userfaultfd, keys, mounts and namespaces, perf, other processes' memory, kernel modules, reboot, swap,
  // handles, the mount API, quotas, the kernel log, clocks, chroot, ports, pidfd_getfd, memfd_secret, moving pages, io_uring
  x64: [
    101, 321, 323, 248, 249, 250, 165, 166, 155, 272, 308, 298, 310, 311, 246, 320, 175, 176, 313,
    169, 167, 168, 163, 303, 304, 428, 429, 430, 431, 432, 433, 442, 179, 103, 164, 227, 159, 161,
    172, 173, 153, 438, 447, 279, 256, 425, 426, 427,
  ],
  arm64: [
    117, 280, 282, 217, 218, 219, 40, 39, 41, 97, 268, 241, 270, 271, 104, 294, 105, 106, 273, 142,
    224, 225, 89, 264, 265, 428, 429, 430, 431, 432, 433, 442, 60, 116, 170, 112, 171, 51, 58, 438,
    447, 239, 238, 425, 426, 427,
  ],
};

interface Architecture {
  /** The kernel's number of the architecture. */
  readonly audit: number;
  readonly clone: number;
  readonly clone3: number;
  readonly socket: number;
  readonly ioctl: number;
}

const architectures: Readonly<Record<string, Architecture>> = {
  x64: { audit: 0xc000003e, clone: 56, clone3: 435, socket: 41, ioctl: 16 },
  arm64: { audit: 0xc00000b7, clone: 220, clone3: 435, socket: 198, ioctl: 29 },
};

/** Every flag of clone that makes a namespace. */
const namespaceFlags = 0x7e020080;
const socketFamilies = { unix: 1, inet: 2, inet6: 10 } as const;
/** ioctls that type on the terminal of somebody else. */
const terminalInput = [0x5412, 0x541c] as const;

const errno = { permission: 1, noSystemCall: 38, family: 97 } as const;
const actions = { allow: 0x7fff0000, error: 0x00050000, kill: 0x80000000 } as const;
const offsets = {
  number: 0,
  architecture: 4,
  argument: (index: number) => 16 + 8 * index,
} as const;
const codes = {
  load: 0x20,
  equal: 0x15,
  greaterOrEqual: 0x35,
  anyBit: 0x45,
  return: 0x06,
} as const;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

/**
 * The filter of system calls for a sandbox, as a classic BPF program in the kernel's own layout, or undefined for an
 * architecture that has none here. What it denies fails with an error; another architecture's calls end the process.
 */
export function seccompProgram(architecture: string): Uint8Array | undefined {
  const numbers = denied[architecture];
  const known = architectures[architecture];
  if (numbers === undefined || known === undefined) return undefined;
  const program: Instruction[] = [
    [codes.load, 0, 0, offsets.architecture],
    [codes.equal, 1, 0, known.audit],
    [codes.return, 0, 0, actions.kill],
    [codes.load, 0, 0, offsets.number],
    // The x32 calls of x86-64 would go past every number below.
    [codes.greaterOrEqual, 0, 1, 0x40000000],
    refuse(errno.permission),
    ...numbers.flatMap((number) => [onlyIf(number), refuse(errno.permission)]),
    // Its flags lie in memory where no filter sees them; libraries fall back to clone.
    onlyIf(known.clone3),
    refuse(errno.noSystemCall),
    ...whenCalled(known.clone, [
      [codes.load, 0, 0, offsets.argument(0)],
      [codes.anyBit, 0, 1, namespaceFlags],
      refuse(errno.permission),
    ]),
    ...whenCalled(known.socket, [
      [codes.load, 0, 0, offsets.argument(0)],
      [codes.equal, 3, 0, socketFamilies.unix],
      [codes.equal, 2, 0, socketFamilies.inet],
      [codes.equal, 1, 0, socketFamilies.inet6],
      refuse(errno.family),
    ]),
    ...whenCalled(known.ioctl, [
      [codes.load, 0, 0, offsets.argument(1)],
      ...terminalInput.flatMap((request) => [onlyIf(request), refuse(errno.permission)]),
    ]),
    [codes.return, 0, 0, actions.allow],
  ];
  return encode(program);
}

/** Skips the next instruction unless the loaded value is `operand`. */
function onlyIf(operand: number): Instruction {
  return [codes.equal, 0, 1, operand];
}

function refuse(error: number): Instruction {
  return [codes.return, 0, 0, actions.error | error];
}

/** Does `checks` for one call only, with the number of the call loaded before and after. */
function whenCalled(number: number, checks: readonly Instruction[]): readonly Instruction[] {
  return [
    [codes.equal, 0, checks.length + 1, number],
    ...checks,
    [codes.load, 0, 0, offsets.number],
  ];
}

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, operand]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  }
  return bytes;
}
