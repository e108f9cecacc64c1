import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of plugin modules, deleted when it is disposed. */
export class PluginModules implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "reeve-plugin-"));

  /** Writes a file, and returns its path. */
  write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
