import { readFileSync, readdirSync } from "node:fs";

const closeOnExec = 0o2000000;
const folder = "/proc/self";

/** Returns the descriptors that this process inherited and that a child would inherit. Those that Node opens are not inherited. */
export function inheritedDescriptors(): readonly number[] {
  return readdirSync(`${folder}/fd`)
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInheritable(descriptor));
}

function isInheritable(descriptor: number): boolean {
  try {
    const [, flags = "0"] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`${folder}/fdinfo/${descriptor}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // Closed since it was listed.
    return false;
  }
}
