export const serverFolders: readonly string[];
export function ensurePrograms(environment: NodeJS.ProcessEnv): Promise<string | undefined>;
export function howToInstall(environment: NodeJS.ProcessEnv): string | undefined;
