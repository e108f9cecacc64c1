import { readFileSync, readdirSync } from "node:fs";

const closeOnExec = 0o2000000;
const folder = "/proc/self";

/**
 * Descriptors that this process got from whoever started it, and would pass on. All that Node opens itself it keeps to
 * itself.
 */
export function inheritedDescriptors(): readonly number[] {
  return readdirSync(`${folder}/fd`)
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isPassedOn(descriptor));
}

function isPassedOn(descriptor: number): boolean {
  try {
    const [, flags = "0"] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`${folder}/fdinfo/${descriptor}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // Closed since it was listed.
    return false;
  }
}
