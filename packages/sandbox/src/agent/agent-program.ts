import { agentProgram } from "../programs/programs.ts";

const run = "import marshal, sys; exec(marshal.loads(bytes.fromhex(sys.argv.pop())))";

/** The arguments by which an interpreter becomes the agent: from bytecode where a probe has made it. */
export function agentArguments(python: string, bytecode?: string): readonly string[] {
  const program = bytecode === undefined ? [agentProgram] : [run, bytecode];
  return [python, "-I", "-B", "-c", ...program];
}
