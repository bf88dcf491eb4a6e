/** Inside the isolate: where relative paths begin. `process.chdir` moves it. */
export const HOME = "/home/plugin";
export const place = { cwd: HOME };
