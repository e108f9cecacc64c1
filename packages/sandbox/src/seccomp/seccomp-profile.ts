import {
  denied,
  errors,
  families,
  missing,
  newNamespaces,
  terminalInjections,
} from "./seccomp-calls.ts";

/** A rule of a container engine's seccomp profile. */
interface Rule {
  readonly names: readonly string[];
  readonly action: "SCMP_ACT_ERRNO";
  readonly errnoRet: number;
  readonly args?: readonly {
    readonly index: number;
    readonly value: number;
    readonly valueTwo: number;
    readonly op: "SCMP_CMP_MASKED_EQ";
  }[];
}

const architectures: Readonly<Record<string, string>> = {
  x64: "SCMP_ARCH_X86_64",
  arm64: "SCMP_ARCH_AARCH64",
};

/** An upper bound of socket families; the kernel refuses larger numbers itself. */
const maxFamilies = 64;
const lowerHalf = 0xffff_ffff;
const bits = Array.from({ length: 32 }, (_, bit) => 2 ** bit);

/**
 * Returns the seccomp profile for container engines. It refuses the same calls as `seccompProgram`, by rules that can only
 * compare for equality. Undefined if the architecture is unknown.
 */
export function seccompProfile(architecture: string): object | undefined {
  const own = architectures[architecture];
  if (own === undefined) return undefined;
  const others = Array.from({ length: maxFamilies }, (_, family) => family).filter(
    (family) => !Object.values<number>(families).includes(family),
  );
  const syscalls: readonly Rule[] = [
    { names: Object.keys(missing), action: "SCMP_ACT_ERRNO", errnoRet: errors.ENOSYS },
    { names: Object.keys(denied), action: "SCMP_ACT_ERRNO", errnoRet: errors.EPERM },
    // One rule for each bit, because a rule cannot match "any of these bits".
    ...bits
      .filter((bit) => bit & newNamespaces)
      .map((bit) => when("clone", { index: 0, mask: bit, value: bit }, errors.EPERM)),
    // Permits personality 0, the default, and all bits, which query the current one. Any other value has a set bit followed by a
    // clear one.
    ...bits.map((bit, at) => {
      const mask = bit + (bits[(at + 1) % bits.length] ?? 0);
      return when("personality", { index: 0, mask, value: bit }, errors.EPERM);
    }),
    ...others.map((value) =>
      when("socket", { index: 0, mask: lowerHalf, value }, errors.EAFNOSUPPORT),
    ),
    ...terminalInjections.map((value) =>
      when("ioctl", { index: 1, mask: lowerHalf, value }, errors.EPERM),
    ),
  ];
  return { defaultAction: "SCMP_ACT_ALLOW", architectures: [own], syscalls };
}

function when(
  name: string,
  { index, mask, value }: { readonly index: number; readonly mask: number; readonly value: number },
  errnoRet: number,
): Rule {
  const args = [{ index, value: mask, valueTwo: value, op: "SCMP_CMP_MASKED_EQ" as const }];
  return { names: [name], action: "SCMP_ACT_ERRNO", errnoRet, args };
}
