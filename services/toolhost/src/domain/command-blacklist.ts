/** Commands that are refused unless the agent says otherwise. */
export const defaultBlacklist = [
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
] as const;

/** Programs that run another program, and the options of theirs that take a value. */
const wrappers: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["env", new Set(["-u", "--unset", "-C", "--chdir"])],
  ["sudo", new Set(["-u", "--user", "-g", "--group"])],
  ["doas", new Set(["-u"])],
  ["nice", new Set(["-n", "--adjustment"])],
  ["ionice", new Set(["-c", "-n"])],
  ["nohup", new Set<string>()],
  ["setsid", new Set<string>()],
  ["stdbuf", new Set(["-i", "-o", "-e"])],
  ["time", new Set<string>()],
  ["timeout", new Set(["-k", "--kill-after", "-s", "--signal"])],
  ["xargs", new Set(["-n", "-I", "-P", "-L", "-d"])],
  ["busybox", new Set<string>()],
  ["command", new Set<string>()],
  ["exec", new Set<string>()],
]);

/** Wrappers whose first plain argument is their own: `timeout 5 rm x`. */
const withOwnArgument: ReadonlySet<string> = new Set(["timeout"]);
const shells: ReadonlySet<string> = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash"]);

/**
 * The name on the blacklist that a command comes down to, or undefined: seen through paths, case and wrappers. A second
 * line that gives honest mistakes a friendly answer; it stops nobody who means harm. That is the sandbox's work.
 */
export function blacklisted(
  argv: readonly string[],
  blacklist: readonly string[],
): string | undefined {
  const names = new Set(blacklist.map((name) => name.toLowerCase()));
  return find(argv, names, 0);
}

const deepest = 10;

function find(
  argv: readonly string[],
  names: ReadonlySet<string>,
  depth: number,
): string | undefined {
  const [first, ...rest] = argv;
  if (first === undefined || depth > deepest) return undefined;
  const name = programName(first);
  if (isListed(name, names)) return name;
  const valued = wrappers.get(name);
  if (valued !== undefined) return find(wrapped(name, rest, valued), names, depth + 1);
  const script = shells.has(name)
    ? rest[rest.findIndex((part) => /^-\w*c$/.test(part)) + 1]
    : undefined;
  if (script === undefined || !rest.some((part) => /^-\w*c$/.test(part))) return undefined;
  for (const part of script.split(/[;&|\n(){}`]+|\$\(/)) {
    const found = find(part.trim().split(/\s+/).filter(Boolean), names, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `mkfs.ext4` is `mkfs`, and `RM.EXE` is `rm`. */
function isListed(name: string, names: ReadonlySet<string>): boolean {
  return names.has(name) || names.has(name.split(".")[0] ?? name);
}

function programName(path: string): string {
  return (path.split(/[/\\]/).at(-1) ?? path).replaceAll(/["']/g, "").toLowerCase();
}

function wrapped(
  name: string,
  rest: readonly string[],
  valued: ReadonlySet<string>,
): readonly string[] {
  let at = 0;
  let own = withOwnArgument.has(name) ? 1 : 0;
  for (; at < rest.length; at++) {
    const part = rest[at] ?? "";
    if (valued.has(part)) at++;
    else if (part.startsWith("-") || /^\w+=/.test(part)) continue;
    else if (own > 0) own--;
    else break;
  }
  return rest.slice(at);
}
