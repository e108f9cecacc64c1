import { maxReadBytes } from "@reeve/sandbox/files/workspace-files";
import { maxSearchedBytes } from "@reeve/sandbox/files/workspace-search";
import { readFile as readFileUpTo } from "../../src/tools/builtin/read-file.ts";
import { grepFiles as grepFilesUpTo } from "../../src/tools/builtin/search-files.ts";

/** The tools with the default limits. */
export const readFile = readFileUpTo(maxReadBytes);
export const grepFiles = grepFilesUpTo(maxSearchedBytes);
