export const driverNames = ["bubblewrap", "docker"] as const;
export type DriverName = (typeof driverNames)[number];
