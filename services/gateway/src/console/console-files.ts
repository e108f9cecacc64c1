import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** A file of the console, as the gateway sends it. */
export interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly etag: string;
  /** Whether its name changes with its content, so that browsers may keep it. */
  readonly isImmutable: boolean;
  /** Returns it compressed, which is done once. Undefined: its format is compressed already. */
  readonly compressed: (() => Promise<Buffer>) | undefined;
}

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
const compressible: ReadonlySet<string> = new Set([".css", ".html", ".js", ".svg"]);
const compress = promisify(gzip);

/**
 * Reads the build of the console into memory, by path such as `/assets/index-1a2b.js`. Nothing else can be requested, so no path
 * leads out of the folder. Returns undefined if there is no build.
 */
export function readConsoleFiles(folder: string): ReadonlyMap<string, ConsoleFile> | undefined {
  if (!existsSync(join(folder, "index.html"))) return undefined;
  const paths = globSync("**/*", { cwd: folder }).filter(
    (path) => types[extname(path)] !== undefined && statSync(join(folder, path)).isFile(),
  );
  return new Map(paths.map((path) => [`/${path}`, fileAt(join(folder, path), path)]));
}

function fileAt(file: string, path: string): ConsoleFile {
  const extension = extname(path);
  const bytes = readFileSync(file);
  let packed: Promise<Buffer> | undefined;
  return {
    type: types[extension] ?? "application/octet-stream",
    bytes,
    etag: `"${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}"`,
    isImmutable: path.startsWith("assets/"),
    compressed: compressible.has(extension)
      ? () => (packed ??= compress(bytes, { level: 9 }))
      : undefined,
  };
}
