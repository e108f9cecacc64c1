/** Returns a text without control characters, and at most so long. Clients may send any text. */
export function bounded(text: string, maxLength: number): string {
  const plain = text.replaceAll(/\p{Cc}/gu, " ").toWellFormed();
  return plain.length > maxLength ? `${plain.slice(0, maxLength - 1)}…`.toWellFormed() : plain;
}
