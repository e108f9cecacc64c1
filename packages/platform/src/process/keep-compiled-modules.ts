import { flushCompileCache, getCompileCacheDir } from "node:module";

/**
 * Stores what this process has compiled so far in the compile cache of Node, if it has one, so that the next process of its kind
 * starts with it. Node itself does so only at the end of a process, and not of one that is killed.
 */
export function keepCompiledModules(): void {
  if (getCompileCacheDir() !== undefined) flushCompileCache();
}
