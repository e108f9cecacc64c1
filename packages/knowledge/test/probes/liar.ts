// A program in place of the reader: answers with its input.
import process from "node:process";

process.stdin.pipe(process.stdout);
