/** Builds the console into `console/dist`, from which the gateway serves it, unless it is built: `npm run console:build`. */
import process from "node:process";
import { buildConsole } from "@reeve/cli/embedded/ensure-console";

const announce = (text: string) => console.error(`${text} …`);
const problem = await buildConsole(announce, new AbortController().signal);
if (problem !== undefined) {
  console.error(problem);
  process.exitCode = 1;
}
