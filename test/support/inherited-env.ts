import process from "node:process";

/**
 * Environment variables that processes of tests inherit: where programs are, and where Node keeps compiled modules, so that
 * services start sooner. All other variables come from the test.
 */
export const inheritedEnv: Readonly<Record<string, string>> = Object.fromEntries(
  ["PATH", "NODE_COMPILE_CACHE"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);
