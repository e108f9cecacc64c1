import type { Notices } from "@reeve/jetstream/notices/nats";

/**
 * Notices whose stream is opened by the first of them. While it cannot be opened, each notice fails, and the next one tries again: other
 * receivers do not wait for it.
 */
export function laterNotices(open: () => Promise<Notices>): Notices {
  let opening: Promise<Notices> | undefined;
  return {
    async publish(notice) {
      opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      await (await opening).publish(notice);
    },
  };
}
