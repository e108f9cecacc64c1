import { wrappedCommand } from "./command-wrappers.ts";

/** The commands that `run_command` refuses unless the agent spec lists others. */
export const defaultBlacklist: readonly string[] = [
  "rm",
  "rmdir",
  "mkfs",
  "dd",
  "shutdown",
  "reboot",
  "halt",
  "poweroff",
  "kill",
  "killall",
  "pkill",
  "format",
  "del",
  "erase",
  "rd",
  "shred",
  "unlink",
  "wipefs",
  "fdisk",
  "parted",
];

const shells = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"]);
const maxWrappers = 16;

/**
 * Returns the blacklisted command that `argv` would run. Undefined: it would run none. Recognizes commands behind paths, in
 * another case, behind wrappers such as `env` and `sudo`, in scripts given to a shell by `-c`, and in `find -exec`. This is an
 * early refusal for the model and no protection: an interpreter or a copy of a program gets past it. The sandbox protects.
 */
export function blacklistedCommand(
  argv: readonly string[],
  blacklist: readonly string[],
): string | undefined {
  const refused = new Set(blacklist.map(nameOf));
  return inCommand(argv, refused, 0);
}

function inCommand(
  argv: readonly string[],
  refused: ReadonlySet<string>,
  depth: number,
): string | undefined {
  const name = nameOf(argv[0] ?? "");
  if (isRefused(name, refused)) return name;
  if (depth >= maxWrappers) return name;
  if (shells.has(name)) return inScript(argv.slice(1), refused);
  if (name === "find") return inFind(argv.slice(1), refused, depth);
  for (const wrapped of wrappedCommand(name, argv.slice(1))) {
    const found = inCommand(wrapped, refused, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `mkfs` also refuses `mkfs.ext4`. */
function isRefused(name: string, refused: ReadonlySet<string>): boolean {
  return refused.has(name) || refused.has(name.split(".")[0] ?? "");
}

/** A refused word anywhere in the script counts: its quoting could hide where commands begin. */
function inScript(args: readonly string[], refused: ReadonlySet<string>): string | undefined {
  const option = args.findIndex((arg) => /^-[a-z]*c[a-z]*$/i.test(arg));
  if (option === -1) return undefined;
  const words = args
    .slice(option + 1)
    .join(" ")
    .replaceAll(/["'\\]/g, "")
    .split(/[\s;|&()`$<>{}]+/);
  return words.map(nameOf).find((word) => isRefused(word, refused));
}

function inFind(
  args: readonly string[],
  refused: ReadonlySet<string>,
  depth: number,
): string | undefined {
  if (args.includes("-delete") && refused.has("rm")) return "find -delete";
  for (const [index, arg] of args.entries()) {
    if (!/^-(exec|ok)(dir)?$/.test(arg)) continue;
    const found = inCommand(args.slice(index + 1), refused, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function nameOf(command: string): string {
  const name = command.slice(command.lastIndexOf("/") + 1).toLowerCase();
  return name.endsWith(".exe") ? name.slice(0, -4) : name;
}
