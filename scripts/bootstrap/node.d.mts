export function findNode(root: string): string | undefined;
export function linkNode(root: string): void;
