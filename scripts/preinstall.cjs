// npm runs this before any dependency is built. On a Node that is too old it says so and ends the installation: otherwise the first thing that fails is
// isolated-vm's compiler, in hundreds of lines. In Creel's own repository it does nothing: there `npm ci` brings the right Node along. `npm install node@24
// creel` brings one along, too: it is beside Creel already, and npm links it before anything is built. This has to run on any Node, so it needs nothing
// and is written in the oldest JavaScript.
"use strict";
/* eslint-disable no-var */
var fs = require("fs");
var path = require("path");

var needed = 24;
var isRepository = fs.existsSync(path.join(__dirname, "..", "src"));

/** The npm package `node`, in the folder that Creel is installed in. */
function isBroughtAlong() {
  var manifest = path.join(__dirname, "..", "..", "node", "package.json");
  return fs.existsSync(manifest) && parseInt(JSON.parse(fs.readFileSync(manifest, "utf8")).version, 10) >= needed;
}

if (!isRepository && parseInt(process.versions.node, 10) < needed && !isBroughtAlong()) {
  console.error(
    "Creel needs Node " +
      needed +
      " or newer; this is v" +
      process.versions.node +
      ". Install it with: npm install node@" +
      needed +
      " (or nvm install " +
      needed +
      ")",
  );
  process.exit(1);
}
