/** The times to wait before each retry. After them, the error is shown. */
const waitsMs = [100, 400, 1_500] as const;

/**
 * Returns `load`, which imports a part of the page, with three retries. A browser fails the requests in progress when a network of its
 * computer changes, as when a container starts or a VPN connects; without a retry, that would replace the screen by an error.
 */
export function retried<Part>(load: () => Promise<Part>): () => Promise<Part> {
  return async () => {
    for (const waitMs of waitsMs) {
      try {
        return await load();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
    return await load();
  };
}
