import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { parseTokenFile } from "@reeve/gateway/auth/token-file";
import { tokenDigest } from "@reeve/platform/rpc/credentials/bearer-tokens";
import { roleName } from "@reeve/platform/rpc/roles";
import { Command } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../exit-code.ts";
import { table } from "../../render/table.ts";

/** The number of characters of a digest that name a token. */
const idLength = 12;

interface CreateOptions {
  readonly file: string;
  readonly roles: string;
  readonly until?: string;
}

interface FileOption {
  readonly file: string;
}

/** Manages the tokens of a token file, which holds their digests only. */
export function tokensCommand({ terminal }: Pick<Context, "terminal">): Command {
  const command = new Command("tokens").description(
    "Manage the tokens of a file that a gateway reads (REEVE_TOKENS_FILE).",
  );
  const withFile = (name: string, description: string) =>
    command
      .command(name)
      .description(description)
      .requiredOption("--file <path>", "the token file; a gateway reads it again when it changes");
  withFile("create", "Add a token for a person or a program, and print it once.")
    .argument("<tenant/subject>", "who the token stands for")
    .requiredOption("--roles <roles>", "roles, such as runner+approver")
    .option("--until <time>", "when the token ends, such as 2030-01-31T00:00:00Z (default: never)")
    .action((who: string, { file, roles, until }: CreateOptions) => {
      // The prefix lets scanners of source code find tokens that were committed by mistake.
      const token = `rv_${randomBytes(32).toString("base64url")}`;
      const end = until === undefined ? "" : ` until=${until}`;
      const line = `sha256:${tokenDigest(token)} ${who}/${roles}${end}`;
      // Before anything is written, so that a mistake leaves the file as it was.
      const [stored] = parse(line, "the token").values();
      if ((stored?.expiresAt ?? Infinity) <= Date.now()) {
        throw new UsageError(`--until ${until} has passed; choose a time in the future`);
      }
      change(file, (text) => {
        parse(text, file);
        return `${text === "" || text.endsWith("\n") ? text : `${text}\n`}${line}\n`;
      });
      terminal.out(`${token}\n`);
      terminal.note(`added to ${file}; the token is not shown again\n`);
    });
  withFile("list", "List the tokens of a file.").action(({ file }: FileOption) => {
    const rows = [...parse(readIfExists(file), file)].map(([digest, token]) => [
      digest.slice(0, idLength),
      token.tenant,
      token.subject,
      [...token.roles].map(roleName).join("+"),
      token.expiresAt === undefined ? "never" : new Date(token.expiresAt).toISOString(),
    ]);
    terminal.out(table(["ID", "TENANT", "SUBJECT", "ROLES", "UNTIL"], rows));
  });
  withFile("revoke", "Remove a token from a file. Its streams end within seconds.")
    .argument("<id>", "the id of the token, as `reeve tokens list` shows it")
    .action((id: string, { file }: FileOption) => {
      change(file, (text) => {
        const found = [...parse(text, file).keys()].filter((digest) => digest.startsWith(id));
        if (found.length !== 1 || id.length < idLength) {
          throw new UsageError(
            `${file} has no token with the id ${id}; list them: reeve tokens list --file ${file}`,
          );
        }
        const isKept = (line: string) => !line.includes(`sha256:${found[0]}`);
        return text.split("\n").filter(isKept).join("\n");
      });
      terminal.note(`revoked ${id}\n`);
    });
  return command;
}

function parse(text: string, name: string): ReturnType<typeof parseTokenFile> {
  try {
    return parseTokenFile(text);
  } catch (error) {
    throw new UsageError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

/**
 * Changes a file as a whole: a gateway that reads it meanwhile sees the old or the new one. Its owner and its rights stay. Throws
 * a UsageError if another process changes it at the same time.
 */
function change(file: string, edit: (text: string) => string): void {
  // Behind a link is the file that the gateway reads.
  const path = existsSync(file) ? realpathSync(file) : file;
  const next = `${path}.new`;
  const descriptor = openNew(next);
  try {
    writeFileSync(descriptor, edit(readIfExists(path)));
    if (existsSync(path)) {
      const { mode, uid, gid } = statSync(path);
      fchownSync(descriptor, uid, gid);
      fchmodSync(descriptor, mode & 0o777);
    }
    renameSync(next, path);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function openNew(path: string): number {
  try {
    return openSync(path, "wx", 0o600);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    throw new UsageError(
      `${path} exists: another process changes the tokens; if none does, remove it and try again`,
    );
  }
}
