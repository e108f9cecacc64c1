import { agentProgram } from "../programs/programs.ts";

const run = "import marshal, sys; exec(marshal.loads(bytes.fromhex(sys.argv.pop())))";

/** Returns the command that runs the agent. `bytecode` is the compiled agent, if a probe has compiled it. */
export function agentArguments(python: string, bytecode?: string): readonly string[] {
  const program = bytecode === undefined ? [agentProgram] : [run, bytecode];
  return [python, "-I", "-B", "-c", ...program];
}
