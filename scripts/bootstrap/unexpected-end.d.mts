export function unexpectedEnd(name: string, signal: string | null): string | undefined;
