/** The arguments of a program that runs another program. */
interface Wrapper {
  /** Short options whose value is the next argument. */
  readonly valued?: string;
  /** How many positional arguments come before the command. */
  readonly operands?: number;
}

const wrappers: Readonly<Record<string, Wrapper>> = {
  env: { valued: "uC" },
  sudo: { valued: "ugCDhprRTt" },
  doas: { valued: "uC" },
  nice: { valued: "n" },
  ionice: { valued: "cn" },
  chrt: { valued: "TPD", operands: 1 },
  taskset: { operands: 1 },
  nohup: {},
  setsid: {},
  time: { valued: "fo" },
  timeout: { valued: "sk", operands: 1 },
  xargs: { valued: "adEIiLlnPs" },
  stdbuf: { valued: "ioe" },
  chroot: { operands: 1 },
  flock: { valued: "wE", operands: 1 },
  setpriv: {},
  prlimit: {},
  unshare: { valued: "SG" },
  nsenter: { valued: "tSG" },
  strace: { valued: "eopsu" },
  watch: { valued: "n" },
  exec: { valued: "a" },
  command: {},
  builtin: {},
  busybox: {},
  toybox: {},
};

const assignment = /^[A-Za-z_]\w*=/;

/** Returns the command lines that a wrapper may run. Empty: `name` is not a wrapper. */
export function wrappedCommand(
  name: string,
  args: readonly string[],
): readonly (readonly string[])[] {
  const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
  if (wrapper === undefined) return [];
  const split = splitString(name, args);
  return split === undefined ? [withoutOwn(wrapper, args)] : [split];
}

/** `env -S "rm -r x"` splits its one argument into a command line. */
function splitString(name: string, args: readonly string[]): readonly string[] | undefined {
  if (name !== "env") return undefined;
  const index = args.findIndex((arg) => /^(-[a-z0]*S|--split-string)/.test(arg));
  if (index === -1) return undefined;
  const [option = "", ...rest] = args.slice(index);
  const text = option.replace(/^(-[a-z0]*S|--split-string=?)/, "");
  const words = [text, ...rest]
    .join(" ")
    .replaceAll(/["'\\]/g, "")
    .trim()
    .split(/\s+/);
  return withoutOwn(wrappers["env"] ?? {}, words);
}

function withoutOwn(
  { valued = "", operands = 0 }: Wrapper,
  args: readonly string[],
): readonly string[] {
  let index = 0;
  let own = operands;
  for (; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (arg === "--") continue;
    if (arg.length > 1 && arg.startsWith("-")) {
      const takesNext = arg.length === 2 && valued.includes(arg.slice(1));
      if (takesNext) index++;
    } else if (assignment.test(arg)) continue;
    else if (own > 0) own--;
    else break;
  }
  return args.slice(index);
}
