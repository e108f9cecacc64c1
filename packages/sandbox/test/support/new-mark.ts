import process from "node:process";

let marks = 0;

/** Returns a number of seconds, about a day, that no other test of this machine uses: `sleep` and its processes are found by it. */
export function newMark(): string {
  return `${86_000 + ++marks}.${process.pid}`;
}
