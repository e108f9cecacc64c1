import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { build, cached, prepared } from "./language-providers.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/receipts.md"), "utf8");

/** The programs on the page about receipts, as commands that take the file of the key, in the languages that are installed. */
const programs = {
  Python: async (folder: string) => {
    const file = join(folder, "verify_receipt.py");
    writeFileSync(file, printed("python"));
    return [await pythonWithCryptography(), file];
  },
  Go: async (folder: string) => {
    const source = join(folder, "main.go");
    writeFileSync(source, printed("go"));
    const built = await cached("receipt-go", [source], async (to) => {
      mkdirSync(to, { recursive: true });
      const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "" };
      await build("go", ["build", "-o", join(to, "verify"), source], { env });
    });
    return [join(built, "verify")];
  },
} as const;

export type ReceiptLanguage = keyof typeof programs;
export const receiptLanguages = Object.keys(programs) as readonly ReceiptLanguage[];

/**
 * Has the program of a language verify receipts with the keys in `pem`, and returns what it says about each. The program is exactly
 * the one that the page prints. Undefined: the language is not installed.
 */
export async function verifiedBy(
  language: ReceiptLanguage,
  pem: string,
  receipts: readonly string[],
): Promise<readonly string[] | undefined> {
  using folder = mkdtempDisposableSync(join(tmpdir(), "reeve-receipt-"));
  const program = await prepared(
    async () => ({ command: await programs[language](folder.path) }),
    true,
  );
  if (program.kind === "missing") return undefined;
  const keys = join(folder.path, "keys.pem");
  writeFileSync(keys, pem);
  const [command = "", ...args] = program.command;
  const child = spawn(command, [...args, keys], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(receipts.map((receipt) => `${receipt}\n`).join(""));
  return (await text(child.stdout)).trimEnd().split("\n");
}

/** Returns the receipt with each of its bytes changed, one by one. No change makes a line feed. */
export function changedReceipts(receipt: string): readonly string[] {
  return Array.from(receipt, (character, index) => {
    const changed = String.fromCharCode(character.charCodeAt(0) ^ 1);
    return `${receipt.slice(0, index)}${changed}${receipt.slice(index + 1)}`;
  });
}

function printed(language: string): string {
  const [, program] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page) ?? [];
  if (program === undefined) throw new Error(`docs/receipts.md has no program in ${language}`);
  return program;
}

/** Returns a Python that has the library: the installed one, or a virtual environment. */
async function pythonWithCryptography(): Promise<string> {
  const requirement = "cryptography==48.0.0";
  const check = ["-c", "import cryptography"];
  const isInstalled = await promisify(execFile)("python3", check).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") throw error;
      return false;
    },
  );
  if (isInstalled) return "python3";
  using folder = mkdtempDisposableSync(join(tmpdir(), "reeve-receipt-"));
  const list = join(folder.path, "requirements.txt");
  writeFileSync(list, requirement);
  const venv = await cached("receipt-python", [list], async (to) => {
    await build("python3", ["-m", "venv", "--copies", to]);
    await build(join(to, "bin/python"), ["-m", "pip", "install", "-q", requirement]);
  });
  return join(venv, "bin/python");
}
