import { dirname, join, relative } from "node:path";
import type { Plugin } from "rolldown";

/** Names of modules that mean the folder of their file, unless the module defines them itself. */
const folderName = /import\.meta\.dirname|(?<![\w$.])__dirname(?![\w$])/;
const ownFolderName = /\b(?:const|let|var)\s+__dirname\b/;

/**
 * Lets modules find the files beside their sources after they were bundled: the folder of a module becomes its path relative to
 * the bundle, which is at `place`, relative to the root of the installation.
 */
export function foldersOfSources(root: string, place: string): Plugin {
  const bundles = join(root, place);
  return {
    name: "folders-of-sources",
    transform: {
      filter: { code: folderName },
      handler(code, id) {
        if (ownFolderName.test(code)) return;
        const folder = JSON.stringify(`/${relative(bundles, dirname(id))}`);
        return code.replaceAll(
          new RegExp(folderName, "g"),
          () => `(import.meta.dirname + ${folder})`,
        );
      },
    },
  };
}
