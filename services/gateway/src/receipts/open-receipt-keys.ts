import { watchFiles } from "@reeve/platform/process/watch-files";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { SigningKey, VerifyingKey } from "@reeve/run/receipts/receipt-keys";
import { parseSigningKey, parseVerifyingKeys } from "@reeve/run/receipts/receipt-keys";
import type { GatewayConfig } from "../config.ts";

/** The keys of the deployment for receipts. */
export interface ReceiptKeys {
  readonly signing: SigningKey | undefined;
  /** The keys that verify receipts, the one that signs first, each once. */
  readonly verifying: readonly VerifyingKey[];
}

/** Returns a function that gives the keys of now: their files are read again when they change. Throws a Failure if they cannot be used. */
export function openReceiptKeys(
  {
    REEVE_RECEIPT_KEY_FILE: keyPath,
    REEVE_RECEIPT_PUBLIC_KEYS_FILE: publicPath,
  }: Pick<GatewayConfig, "REEVE_RECEIPT_KEY_FILE" | "REEVE_RECEIPT_PUBLIC_KEYS_FILE">,
  log: Logger,
  resources: AsyncDisposableStack,
): () => ReceiptKeys {
  const files = [
    ...(keyPath === undefined ? [] : [{ setting: "REEVE_RECEIPT_KEY_FILE", path: keyPath }]),
    ...(publicPath === undefined
      ? []
      : [{ setting: "REEVE_RECEIPT_PUBLIC_KEYS_FILE", path: publicPath }]),
  ];
  if (files.length === 0) return () => ({ signing: undefined, verifying: [] });
  const parse = (contents: readonly Buffer[]): ReceiptKeys => {
    const [first, second] = contents;
    const keyText = keyPath === undefined ? undefined : first;
    const publicText = keyPath === undefined ? first : second;
    const signing = keyText && parseSigningKey(keyText, `REEVE_RECEIPT_KEY_FILE ${keyPath}`);
    const named = `REEVE_RECEIPT_PUBLIC_KEYS_FILE ${publicPath}`;
    const known = publicText === undefined ? [] : parseVerifyingKeys(String(publicText), named);
    const all = signing === undefined ? known : [signing, ...known];
    const byId = new Map(all.toReversed().map((key) => [key.keyId, key]));
    return { signing, verifying: all.filter((key) => byId.get(key.keyId) === key) };
  };
  const watched = resources.use(
    watchFiles(files, { noun: "files with keys for receipts", log, parse }),
  );
  return () => watched.current;
}
