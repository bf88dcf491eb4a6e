/** Prints the files of the console's page as JSON; src/console/page-files.ts calls it when Creel runs from sources. */
import { buildConsole } from "./build.ts";

process.stdout.write(JSON.stringify(await buildConsole()));
