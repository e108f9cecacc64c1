/** The vendors whose list prices are built in, by the host of their own API. */
const vendors: ReadonlyMap<string, string> = new Map([
  ["api.openai.com", "openai"],
  ["api.anthropic.com", "anthropic"],
]);

/**
 * Returns the vendor whose list prices apply at an address, or an empty text: a gateway, a proxy, or a regional address may have
 * other prices for the same names of models.
 */
export function priceListAt(baseUrl: string): string {
  return vendors.get(new URL(baseUrl).host) ?? "";
}
