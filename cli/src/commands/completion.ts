import { Argument, Command } from "commander";
import type { Context } from "../context.ts";

/** The shells, each with the script that completes the commands and options of a program. */
const scripts = {
  bash: bashScript,
  zsh: (program: Command) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(program)}`,
  fish: fishScript,
} as const;

/** Prints a script that has a shell complete commands and options. */
export function completionCommand({ terminal }: Pick<Context, "terminal">): Command {
  const command = new Command("completion")
    .description("Print a script that completes commands and options in your shell.")
    .addArgument(new Argument("<shell>", "your shell").choices(Object.keys(scripts)));
  return command.action((shell: keyof typeof scripts) => {
    const program = command.parent;
    if (program !== null) terminal.out(scripts[shell](program));
  });
}

/** A command, and the words before it: `agents apply`. */
interface Place {
  readonly path: string;
  readonly command: Command;
}

function placesIn(command: Command, path = ""): readonly Place[] {
  const below = command.commands.flatMap((each) => placesIn(each, `${path} ${each.name()}`.trim()));
  return [{ path, command }, ...below];
}

function optionsOf({ options }: Command): readonly string[] {
  return options.flatMap(({ long }) => (typeof long === "string" ? [long] : []));
}

function bashScript(program: Command): string {
  const places = placesIn(program);
  const paths = places.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  const cases = places.map(({ path, command }) => {
    const words = [...command.commands.map((each) => each.name()), ...optionsOf(command)];
    return `    "${path}") words="${[...words, ...optionsOf(program)].join(" ")}" ;;`;
  });
  return `_reeve() {
  local path="" next word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in
      ${paths.join(" | ")}) path="$next" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _reeve reeve
`;
}

function fishScript(program: Command): string {
  const lines = placesIn(program).flatMap(({ path, command }) => {
    const words = path.split(" ").filter((word) => word !== "");
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
    const when = seen.length === 0 ? "__fish_use_subcommand" : seen.join("; and ");
    const start = `complete -c reeve -n '${when}'`;
    return [
      ...command.commands.map(
        (each) => `${start} -a ${each.name()} -d '${plain(each.description())}'`,
      ),
      ...command.options.flatMap(({ long, description }) =>
        typeof long === "string" ? [`${start} -l ${long.slice(2)} -d '${plain(description)}'`] : [],
      ),
    ];
  });
  return `${lines.join("\n")}\n`;
}

/** A text on one line, in single quotes of fish. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll("\\", "\\\\").replaceAll("'", "\\'");
}
