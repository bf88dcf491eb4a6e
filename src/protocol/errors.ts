/**
 * Every error Creel raises, in one table: what happened, how to fix it, and who reads it. Both sides of the trust line use it.
 * `CreelError` keeps its code across threads and processes, because it travels as `{ code, message }`.
 *
 * House style, which test/protocol/error-style.test.ts checks: a message is one clause that names what happened and to whom. It has
 * no capital letter and no full stop, because it follows a code or "creel:", and stands inside the `{detail}` of other messages. A fix
 * is an order ("raise limits.bytesIn for the plugin") or "none needed: …". It names only keys, commands and pages that exist.
 */
type Audience = "gateway" | "author" | "operator";

export const ERRORS = {
  ERR_HOOK_UNKNOWN: {
    audience: "gateway",
    message: 'there is no hook named "{hook}"{hint}',
    fix: 'use a hook that "creel help hooks" lists, or define your own with defineHook',
  },
  ERR_HOOK_KIND: {
    audience: "gateway",
    message: 'the hook "{hook}" is of kind {kind}: use {use}',
    fix: "call the method that fits the kind of the hook",
  },
  ERR_HOOK_DEFINED: {
    audience: "gateway",
    message: 'the catalog already has a hook named "{hook}"',
    fix: "give your own hook another name",
  },
  ERR_EVENT_INVALID: {
    audience: "gateway",
    message: 'the event of "{hook}" is not valid at "{field}": {detail}',
    fix: 'correct that field; "creel help hooks" lists the event of every hook',
  },
  ERR_CONTEXT_INVALID: {
    audience: "gateway",
    message: 'the context of "{hook}" is not valid at "{field}": {detail}{source}',
    fix: 'pass a context with that field to the run; "creel help hooks" lists the context of every hook',
  },
  ERR_EVENT_NOT_JSON: {
    audience: "gateway",
    message: 'the event or context of "{hook}" cannot be written as JSON: {detail}',
    fix: "remove cycles and BigInts",
  },
  ERR_EVENT_SIZE: {
    audience: "gateway",
    message: 'the event and context of "{hook}" take {bytes} bytes, but the limit is {limit}',
    fix: "send less; this limit is fixed, and no setting raises it",
  },
  ERR_HOST_CLOSED: { audience: "gateway", message: "the host is closed", fix: "open a new host" },
  ERR_HOST_OPTIONS: {
    audience: "gateway",
    message: 'the options of openHost are not valid at "{field}": {detail}',
    fix: 'use the options that "creel help embedding" lists',
  },
  ERR_INSPECT_PORT: {
    audience: "author",
    message: "the debugger's port {port} cannot be opened: {detail}",
    fix: 'choose another port, such as "--inspect=0" for any free one',
  },
  ERR_INSPECT_REFUSED: {
    audience: "author",
    message: "the plugin cannot be inspected: {detail}",
    fix: "try again; if it stays so, report it as an error of Creel",
  },
  ERR_CONFIG_INVALID: {
    audience: "operator",
    message: '{source} is not valid at "{field}": {detail}',
    fix: 'correct that key; "creel help config" lists every key',
  },
  ERR_CONFIG_READ: {
    audience: "operator",
    message: "Creel cannot read the configuration {source}: {detail}",
    fix: "check the path, and that the file is JSON",
  },
  ERR_CONFIG_EDIT: { audience: "operator", message: 'Creel cannot change {source} at "{field}": {detail}', fix: "edit the file by hand" },
  ERR_FUNCTION_UNKNOWN: {
    audience: "gateway",
    message: 'no plugin of this host declares the {kind} "{name}"{hint}',
    fix: "call host.tools(), host.commands(), host.methods(), host.routes(), host.commandLines() or host.services() to list what plugins declare",
  },
  ERR_PLUGIN_UNKNOWN: {
    audience: "gateway",
    message: 'this host has no plugin "{plugin}"',
    fix: "call host.plugins() to list the plugins",
  },
  ERR_PLUGINS_FAILED: {
    audience: "operator",
    message: "the host did not open, because these plugins did not load and Creel does not know which hooks they guard: {plugins}",
    fix: 'repair or disable each plugin, or list its hooks in its creel.plugin.json so that they stay shut; to open the host without these plugins, set allowFailed: true or run "creel serve --allow-failed"',
  },
  ERR_PLUGIN_MISSING: {
    audience: "operator",
    message: 'the plugin "{plugin}" is required, but it is neither named nor installed',
    fix: 'install it, or remove "required" from its entry under plugins.entries in creel.json',
  },
  ERR_PLUGIN_ID: {
    audience: "operator",
    message: '"{plugin}" is not a plugin id',
    fix: "use letters, digits, dots, dashes and underscores, optionally after @scope/",
  },
  ERR_PLUGIN_DUPLICATE: {
    audience: "operator",
    message: 'two plugins have the id "{plugin}"',
    fix: "remove one of them, or give it another id",
  },
  ERR_PLUGIN_ENTRY: {
    audience: "author",
    message: 'the plugin at "{path}" {problem}',
    fix: 'check the path; if it is right, name the file as "main" in creel.plugin.json, or call it index.ts or index.js',
  },
  ERR_PLUGIN_MANIFEST: {
    audience: "author",
    message: 'the manifest "{path}" is not valid at "{field}": {detail}',
    fix: 'correct that field; "creel help writing-plugins" describes the manifest',
  },
  ERR_PLUGIN_BUNDLE: {
    audience: "author",
    message: "the plugin could not be bundled: {detail}",
    fix: "repair the file and line that the message names",
  },
  ERR_PLUGIN_BUNDLE_CRASH: {
    audience: "author",
    message: 'the plugin "{plugin}" could not be bundled: the bundler crashed on it ({detail})',
    fix: "look for code that nests thousands of levels deep, or for a file that is not code",
  },
  ERR_PLUGIN_BUNDLE_LIMIT: {
    audience: "author",
    message: 'the plugin "{plugin}" could not be bundled: Creel stopped the bundler because it took more than {limit}',
    fix: "remove files and dependencies that the plugin does not use",
  },
  ERR_ARCHIVE_READ: {
    audience: "operator",
    message: "Creel cannot read the archive {path}: {detail}",
    fix: "name a file that npm pack made, and that you may read",
  },
  ERR_ARCHIVE_STAGING: {
    audience: "operator",
    message: "Creel cannot unpack the archive into {path}: {detail}",
    fix: "use an empty folder that belongs to you and that no other user can write to",
  },
  ERR_ARCHIVE_FORMAT: {
    audience: "operator",
    message: "the archive does not have the format that npm pack writes: {detail}",
    fix: "fetch it again; if it fails again, ask its author to make it with npm pack",
  },
  ERR_ARCHIVE_TRUNCATED: { audience: "operator", message: "the archive ends too early: {detail}", fix: "fetch it again" },
  ERR_ARCHIVE_TRAILING: {
    audience: "operator",
    message: "the archive has data after its end: {detail}",
    fix: "fetch it again; if it fails again, do not install it, because some tools hide that data from you",
  },
  ERR_ARCHIVE_LIMIT: {
    audience: "operator",
    message: "the archive has more than {limit} {what}",
    fix: "do not install it unless you know why it is so large; its author can leave out what the plugin does not use",
  },
  ERR_ARCHIVE_TIME: {
    audience: "operator",
    message: "Creel could not unpack the archive within {ms} ms",
    fix: "try again when the machine is less busy",
  },
  ERR_ARCHIVE_EMPTY: { audience: "operator", message: "the archive holds no file", fix: "name an archive that npm pack made" },
  ERR_ARCHIVE_ROOT: {
    audience: "operator",
    message: 'the archive\'s entry "{entry}" {detail}',
    fix: "ask its author to make it with npm pack, which puts all files of a package into one folder",
  },
  ERR_ARCHIVE_PATH: {
    audience: "operator",
    message: "the archive's entry \"{entry}\" does not stay in the package's folder: {detail}",
    fix: "do not install it: no tool makes such an archive by accident",
  },
  ERR_ARCHIVE_NAME: {
    audience: "operator",
    message: 'the archive\'s entry "{entry}" has a name that means different files on different machines: {detail}',
    fix: "ask its author to rename the file",
  },
  ERR_ARCHIVE_COLLISION: {
    audience: "operator",
    message: 'the archive\'s entries "{entry}" and "{other}" collide: {detail}',
    fix: "do not install it: which of the two you get depends on the tool and the machine",
  },
  ERR_ARCHIVE_LINK: {
    audience: "operator",
    message: 'the archive\'s entry "{entry}" is a {kind}, which a package must not contain',
    fix: "ask its author to make it with npm pack, which leaves links out",
  },
  ERR_ARCHIVE_TYPE: {
    audience: "operator",
    message: 'the archive\'s entry "{entry}" is a {kind}, not a file or a folder',
    fix: "do not install it: npm pack writes nothing but files",
  },
  ERR_ARCHIVE_NATIVE: {
    audience: "operator",
    message: 'the archive\'s entry "{entry}" is {kind}: native code cannot run inside the sandbox',
    fix: "look for a version of the plugin that is all JavaScript or WebAssembly",
  },
  ERR_INSTALL_JSON: {
    audience: "operator",
    message: "{path}:{line}:{column}: {detail}",
    fix: "ask the plugin's author to repair the file",
  },
  ERR_INSTALL_ID: {
    audience: "operator",
    message: '"{plugin}" cannot be the id of a plugin: {detail}',
    fix: "ask the plugin's author for another id; do not install it if the id imitates that of another plugin",
  },
  ERR_BUNDLER_START: {
    audience: "operator",
    message: "the bundler did not start: {detail}",
    fix: "check that rolldown and its binding for this platform are installed",
  },
  ERR_PLUGIN_MODULE: {
    audience: "author",
    message: 'the module "{module}" is not available inside the sandbox',
    fix: 'use the alternative that the message names; "creel help openclaw-plugins" lists the modules',
  },
  ERR_PLUGIN_ABSENT: {
    audience: "author",
    message: "the plugin cannot run here: {sentence}{more}",
    fix: 'use the alternative that the message names; "creel help openclaw-plugins" lists the modules',
  },
  ERR_PLUGIN_SIZE: {
    audience: "author",
    message: "the plugin's bundle has {bytes} bytes, but the limit is {limit}{largest}",
    fix: "remove files and dependencies that the plugin does not use",
  },
  ERR_PLUGIN_PACK: {
    audience: "author",
    message: "Creel cannot pack {folder}: {detail}",
    fix: "correct what the message names; nothing was written",
  },
  ERR_PLUGIN_SYNTAX: { audience: "author", message: "the plugin's bundle does not parse: {detail}", fix: "correct the syntax error" },
  ERR_PLUGIN_EXPORT: {
    audience: "author",
    message: "the plugin's default export is {found}",
    fix: "export definePlugin({ id, register }), a plain { id, register }, or a function (api) => …",
  },
  ERR_PLUGIN_LOAD: {
    audience: "author",
    message: "the plugin failed while loading: {detail}",
    fix: "repair the file and line that the error names",
  },
  ERR_PLUGIN_FRAME: {
    audience: "author",
    message: 'the plugin "{plugin}" takes {bytes} bytes with its files and its configuration, but the limit is {limit}',
    fix: "leave out files that it does not read, or shorten its configuration",
  },
  ERR_PLUGIN_REGISTRATION: {
    audience: "author",
    message: 'the plugin registered something that is not valid at "{field}": {detail}',
    fix: 'correct that argument of api.on; "creel help writing-plugins" describes it',
  },
  ERR_PLUGIN_QUARANTINED: {
    audience: "operator",
    message: 'Creel did not call the handler: the plugin "{plugin}" is quarantined {until}, or until host.release("{plugin}"): {why}',
    fix: 'repair or update the plugin; "creel release <id>", "creel openclaw release <id>" or host.release ends the quarantine at once',
  },
  ERR_CALL_FAILED: { audience: "author", message: "the handler threw: {detail}", fix: "repair the file and line that the error names" },
  ERR_CALL_RESULT: {
    audience: "author",
    message: 'the handler\'s result is not valid at "{field}": {detail}',
    fix: "return what the hook's result type allows, or nothing",
  },
  ERR_CALL_RESULT_SIZE: {
    audience: "author",
    message: "the handler's result takes {bytes} bytes, but the limit is {limit}",
    fix: "return less, or ask the operator to raise limits.bytesOut for the plugin",
  },
  ERR_CALL_RESULT_SHAPE: {
    audience: "author",
    message: "the handler's result has more than {values} values, or nests more than {depth} levels deep",
    fix: "return less, or one text instead of many values",
  },
  ERR_CALL_EVENT_GROWTH: {
    audience: "author",
    message: "with the handler's result the event would take {bytes} bytes, but the limit is {limit}",
    fix: "return less; the event and the results of earlier handlers count too",
  },
  ERR_CALL_RESULTS_SIZE: {
    audience: "author",
    message: "the results of the plugin's handlers in this run take more than {limit} bytes in total",
    fix: "return less, or ask the operator to raise limits.bytesOut for the plugin",
  },
  ERR_CALL_RESULT_TIME: {
    audience: "author",
    message: "the gateway did not read the result: the plugin's results and requests take more than {limit} ms of its time per second",
    fix: "return less, or ask the operator to raise limits.gatewayMs for the plugin",
  },
  ERR_CALL_RESULT_JSON: {
    audience: "author",
    message: "the handler's result cannot be written as JSON: {detail}",
    fix: "return plain data",
  },
  ERR_CALL_ASYNC: {
    audience: "author",
    message: "the handler returned a promise on a synchronous hook; it was ignored",
    fix: "return the value itself",
  },
  ERR_CALL_TIMEOUT: {
    audience: "author",
    message: "the handler did not settle within {ms} ms",
    fix: "do less, or ask the operator to raise hooks.timeoutMs of the plugin's entry",
  },
  ERR_CALL_CPU: {
    audience: "author",
    message: "the handler used up its {ms} ms of CPU time",
    fix: 'run "creel profile <folder>" to see the slow lines, and do less per call; or ask the operator to raise hooks.cpuMs of the plugin\'s entry',
  },
  ERR_CALL_CPU_SHARED: {
    audience: "author",
    message: "the plugin's handlers used up the {ms} ms of CPU time that they share in a run that blocks the gateway",
    fix: "do less in handlers of synchronous hooks, or ask the operator to raise hooks.cpuMs of the plugin's entry",
  },
  ERR_CALL_TURN: {
    audience: "operator",
    message: "Creel ended a turn that had a CPU for only {cpuMs} ms of its {budgetMs} ms: the machine is too busy",
    fix: "run less on the machine, or raise hooks.cpuMs of the plugin's entry",
  },
  ERR_CALL_WEDGED: {
    audience: "author",
    message: "the handler ran code that V8 cannot stop, and kept its thread for {ms} ms: Creel replaced its sandbox",
    fix: "do less per call; the usual causes are large BigInts, array-likes of huge length and growing heaps",
  },
  ERR_CALL_MEMORY: {
    audience: "author",
    message: "the plugin's heap grew past {mb} MB",
    fix: "keep less, or ask the operator to raise limits.heapMb for the plugin",
  },
  ERR_CALL_PROCESS_MEMORY: {
    audience: "author",
    message: "the plugin took {mb} MB of the memory of its sandbox process, which was too much: Creel replaced the process",
    fix: "keep less; Intl objects and compiled regular expressions take memory outside the heap",
  },
  ERR_CALL_EVENT_SIZE: {
    audience: "operator",
    message: "the event takes {bytes} bytes, but the plugin accepts at most {limit}",
    fix: "raise limits.bytesIn for the plugin, if it needs such events",
  },
  ERR_CALL_PENDING: {
    audience: "author",
    message: "the plugin already has {limit} calls pending",
    fix: "settle earlier calls first, or ask the operator to raise limits.pendingCalls for the plugin",
  },
  ERR_CALL_REPLACED: {
    audience: "author",
    message: "the plugin's cell was replaced while this call was pending: {detail}",
    fix: "repair the failure that the message names",
  },
  ERR_CALL_REFUSED: {
    audience: "operator",
    message: "the handler of a required plugin was not accepted: {detail}",
    fix: "set the key that the message names, or set required to false for the plugin",
  },
  ERR_OPENCLAW_COMMAND: {
    audience: "operator",
    message: "openclaw {command} failed: {detail}",
    fix: "run the command yourself; --openclaw names the executable, if it is not on the PATH",
  },
  ERR_OPENCLAW_LOAD: {
    audience: "operator",
    message: "{plugin} does not load in the sandbox: {detail}",
    fix: 'run "creel check" on its folder to see what is missing; the native plugin stays as it is',
  },
  ERR_OPENCLAW_SLOT: {
    audience: "operator",
    message: "{plugin} fills OpenClaw's plugins.slots.{slot}, which the sandbox cannot do",
    fix: "leave it native, or name another plugin in plugins.slots.{slot} of OpenClaw's configuration first",
  },
  ERR_OPENCLAW_PLUGIN: {
    audience: "operator",
    message: "{plugin}: {detail}",
    fix: 'run "creel openclaw status" to list the plugins and where they run',
  },
  ERR_CALL_NOT_LOADED: { audience: "operator", message: "the plugin is not loaded: {detail}", fix: "repair or disable the plugin" },
  ERR_RECURSION_DEPTH: {
    audience: "author",
    message: "Creel refused the {what}: {limit} runs have already caused each other ({path})",
    fix: "do not patch a session or call the gateway in response to your own change",
  },
  ERR_RECURSION_RATE: {
    audience: "author",
    message: "Creel refused the patch: session {session} was patched more than {limit} times in {seconds} s ({path})",
    fix: "patch less often, and not in response to your own patch",
  },
  ERR_RECURSION_OWN: {
    audience: "author",
    message: "Creel did not call the handler: its own plugin caused the event ({path})",
    fix: "register the handler with reentrant: true if you want this call",
  },
  ERR_RECURSION_NESTED: {
    audience: "author",
    message: "Creel did not call the handler: {hook} does not run inside itself ({path})",
    fix: "do not start, from a handler of this hook, work that runs the hook again",
  },
  ERR_SERVICE_UNKNOWN: {
    audience: "author",
    message: 'there is no service "{service}"',
    fix: 'use a service that "creel help writing-plugins" describes',
  },
  ERR_SERVICE_ABSENT: {
    audience: "gateway",
    message: "this gateway does not offer {service}",
    fix: "pass the gateway's function for it to openHost",
  },
  ERR_SERVICE_ARGUMENT: {
    audience: "author",
    message: 'the argument of {service} is not valid at "{field}": {detail}',
    fix: 'correct that argument; "creel help writing-plugins" describes the services',
  },
  ERR_SERVICE_BUDGET: {
    audience: "author",
    message: "one call may send the host at most {limit} requests",
    fix: "send fewer requests, or ask the operator to raise limits.hostCalls for the plugin",
  },
  ERR_SERVICE_BUSY: {
    audience: "author",
    message: "the plugin already has {limit} requests to the host pending",
    fix: "wait for earlier responses first",
  },
  ERR_SERVICE_TIME: {
    audience: "author",
    message: "the plugin's requests take more than {limit} ms of the gateway's time per second, and too many of them wait",
    fix: "send fewer and smaller requests, or ask the operator to raise limits.gatewayMs for the plugin",
  },
  ERR_SERVICE_SIZE: {
    audience: "author",
    message: "the {what} of {service} takes {bytes} bytes, but the limit is {limit}",
    fix: "send or request less at a time",
  },
  ERR_SERVICE_FLOOD: {
    audience: "author",
    message: "the plugin sent the host more than {limit} requests within a second",
    fix: "send fewer requests, and wait for the responses",
  },
  ERR_SERVICE_FAILED: {
    audience: "author",
    message: "the gateway refused or failed: {detail}",
    fix: "repair the cause in the gateway's own function",
  },
  ERR_GRANT_MISSING: {
    audience: "operator",
    message: "{service} is not granted to {plugin}",
    fix: 'if you trust the plugin with it, run "creel permissions grant <id> <key>"; "creel permissions suggest <id>" prints the key',
  },
  ERR_INSTALL_SOURCE: {
    audience: "operator",
    message: '"{source}" cannot be installed: {detail}',
    fix: "name a package (name or name@version), a folder (./x), a tarball (x.tgz) or a git repository (git:https://…)",
  },
  ERR_INSTALL_NO_NPM: { audience: "operator", message: "npm was not found", fix: "install npm, or put it on the PATH" },
  ERR_INSTALL_NPM: {
    audience: "operator",
    message: "npm {command} failed: {detail}",
    fix: "resolve what npm reports, and try again; nothing was changed",
  },
  ERR_INSTALL_GIT: {
    audience: "operator",
    message: "git {command} failed: {detail}",
    fix: "resolve what git reports, and try again; nothing was changed",
  },
  ERR_INSTALL_INTEGRITY: {
    audience: "operator",
    message: "{what} does not match its announced digest: expected {expected}, but its integrity is {found}",
    fix: "do not install it: it was changed between the registry and this machine",
  },
  ERR_INSTALL_DEPENDENCY: {
    audience: "operator",
    message: 'the dependency "{dependency}" cannot be pinned: {detail}',
    fix: "ask the author to depend on published packages only",
  },
  ERR_INSTALL_SPEC: {
    audience: "operator",
    message: '{owner} needs "{dependency}" as "{spec}", which is not a version, a tag or an alias of a registry',
    fix: "ask the author to depend on published packages only; Creel did not run npm with it",
  },
  ERR_INSTALL_OLD_NPM: {
    audience: "operator",
    message: "this npm needs a proxy here, and cannot be kept from following addresses in packages",
    fix: 'update npm with "npm install -g npm@latest"; Creel fetched none of the plugin\'s dependencies',
  },
  ERR_INSTALL_REGISTER: {
    audience: "operator",
    message: 'the plugin "{plugin}" does not register in a sandbox without grants: {detail}',
    fix: 'ask its author to run "creel check" on its folder; nothing was installed',
  },
  ERR_INSTALL_SIGN: {
    audience: "author",
    message: "Creel cannot sign {folder}: {detail}",
    fix: "repair what the message names, and sign again; nothing was signed",
  },
  ERR_INSTALL_PACKED: {
    audience: "operator",
    message: "the packed plugin is not valid: {detail}",
    fix: "fetch the archive again, or ask its author to pack it with this version of Creel",
  },
  ERR_INSTALL_DIGEST: {
    audience: "operator",
    message: "digest mismatch: you accepted {given}, but this review is {found}",
    fix: "read the review again: the plugin has changed, or it is not the one you read",
  },
  ERR_INSTALL_GRANT: {
    audience: "operator",
    message: '"{key}" is not the key of a permission{hint}',
    fix: "use a key of the review ({known}), or one such as fetch:https://api.example.com/v1#GET, env:NAME, kv",
  },
  ERR_GRANT_UNASKED: { audience: "operator", message: '"{plugin}" never asked for {key}{hint}', fix: "if you mean it, run: {command}" },
  ERR_GRANT_INSECURE: {
    audience: "operator",
    message: "{key} allows unencrypted connections: everyone on the network path can read and change what is sent",
    fix: "grant {better}; or, if you mean it, run: {command}",
  },
  ERR_INSTALL_BLOCKED: {
    audience: "operator",
    message: 'the plugin "{by}" refused the installation of "{plugin}": {reason}',
    fix: 'resolve the reason; if the guard itself is broken, run "creel disable {by}"',
  },
  ERR_INSTALL_RACE: {
    audience: "operator",
    message: 'another process changed the plugin "{plugin}" at the same time',
    fix: "run the command again; nothing was changed",
  },
  ERR_INSTALL_NO_STATE: {
    audience: "operator",
    message: "there is no state folder here: no creel.json, or one without a stateDir",
    fix: 'run "creel install" to create both, or run the command in the folder of your creel.json; into a creel.json that has no stateDir write "stateDir": ".creel"; --state-dir and CREEL_STATE_DIR name another folder',
  },
  ERR_FETCH_URL: {
    audience: "author",
    message: "fetch does not accept this URL: {detail}",
    fix: "pass an absolute http or https URL without a user name",
  },
  ERR_FETCH_METHOD: {
    audience: "operator",
    message: "{method} {origin} is not granted to {plugin}",
    fix: "add the method to the grant's methods, if you trust the plugin with it",
  },
  ERR_FETCH_PATH: {
    audience: "operator",
    message: "this path of {origin} is not granted to {plugin}",
    fix: "widen the grant's pathPrefix, if you trust the plugin with it",
  },
  ERR_FETCH_ADDRESS: {
    audience: "operator",
    message: "the host did not connect to {origin}: its name does not resolve to a public address",
    fix: "if you mean it, grant the address itself, or localhost, as the origin",
  },
  ERR_FETCH_HEADER: {
    audience: "author",
    message: "the request's headers are not valid: {detail}",
    fix: "send headers of printable Latin-1 text",
  },
  ERR_FETCH_REDIRECT: {
    audience: "author",
    message: "{origin} redirected the request, and the host did not follow: {detail}",
    fix: 'request the last address itself, or use redirect: "manual"',
  },
  ERR_FETCH_REQUEST_SIZE: {
    audience: "author",
    message: "the request's body has {bytes} bytes, but the limit is {limit}",
    fix: "send less",
  },
  ERR_FETCH_RESPONSE_SIZE: {
    audience: "author",
    message: "the response of {origin} has more than {limit} bytes",
    fix: "request less at a time",
  },
  ERR_FETCH_TIMEOUT: {
    audience: "author",
    message: "{origin} did not answer in full within {ms} ms",
    fix: "request less at a time, or try again later",
  },
  ERR_FETCH_BODY: {
    audience: "author",
    message: "the response's body cannot be read: {detail}",
    fix: "read a body soon, once, and to its end",
  },
  ERR_FETCH_ABORTED: { audience: "author", message: "the request was aborted", fix: "none needed: the plugin itself aborted it" },
  ERR_FETCH_FAILED: { audience: "author", message: "the request to {origin} failed: {detail}", fix: "try again later" },
  ERR_FETCH_BUSY: {
    audience: "author",
    message: "the plugin already has {limit} requests pending",
    fix: "wait for earlier responses first",
  },
  ERR_FETCH_RATE: {
    audience: "author",
    message: "the plugin has made more than {limit} requests in {seconds} s",
    fix: "make fewer requests, and none in response to your own change",
  },
  ERR_CONNECT_ADDRESS: {
    audience: "operator",
    message: "the host did not connect to {target}: its name does not resolve to a public address",
    fix: "if you mean it, grant the address itself, or localhost, with the port",
  },
  ERR_CONNECT_TLS: {
    audience: "author",
    message: "the grant for {target} is for TLS only",
    fix: "use tls.connect, or ask the operator for a grant without tls://",
  },
  ERR_CONNECT_TIMEOUT: {
    audience: "author",
    message: "{target} did not answer within {ms} ms",
    fix: "try again later",
  },
  ERR_CONNECT_FAILED: { audience: "author", message: "the connection to {target} failed: {detail}", fix: "try again later" },
  ERR_CONNECT_CLOSED: {
    audience: "author",
    message: "the connection is closed: {detail}",
    fix: "open another one when you need it",
  },
  ERR_CONNECT_BUSY: {
    audience: "author",
    message: "the plugin already has {limit} connections open",
    fix: "use a smaller pool, and close connections that are not needed",
  },
  ERR_CONNECT_RATE: {
    audience: "author",
    message: "the plugin has opened more than {limit} connections in {seconds} s",
    fix: "keep a connection, and wait longer before you try again",
  },
  ERR_CONNECT_BYTES: {
    audience: "author",
    message: "the plugin's connections have carried more than {limit} bytes in {seconds} s",
    fix: "request less at a time",
  },
  ERR_KV_QUOTA: {
    audience: "operator",
    message: "the store may hold {limit} {what}, but this write would make it {count}; nothing was written",
    fix: "delete entries, or raise maxBytes or maxKeys of grants.kv",
  },
  ERR_KV_NUMBER: {
    audience: "author",
    message: "the entry cannot be incremented: {detail}",
    fix: "keep only numbers under keys that you increment",
  },
  ERR_KV_CONFLICT: {
    audience: "author",
    message: "other calls changed the entry during each of the {limit} attempts to update it",
    fix: "use increment for counters, or spread the updates over several keys",
  },
  ERR_KV_CLIENT: {
    audience: "operator",
    message: "kv.postgres is set, but the client for PostgreSQL cannot be loaded: {detail}",
    fix: 'run "npm install postgres" beside creel, or remove kv.postgres from the configuration',
  },
  ERR_KV_RATE: {
    audience: "author",
    message: "the plugin has used its store more than {limit} times in {seconds} s",
    fix: "read several keys with getMany, and write less often",
  },
  ERR_VOLUME_REFUSED: {
    audience: "operator",
    message: "the host refused the file changes that the cell reported, and loaded the cell again: {detail}",
    fix: "do not trust the plugin: its copy of the file rules differs from the host's",
  },
  ERR_SCHEDULE_PATTERN: {
    audience: "author",
    message: "the cron pattern is not valid: {detail}",
    fix: "pass five fields: minute, hour, day of the month, month, day of the week",
  },
  ERR_SCHEDULE_QUOTA: {
    audience: "author",
    message: "the plugin already has {limit} jobs waiting",
    fix: "cancel jobs, or give them ids so that a new job replaces the old one",
  },
  ERR_SCHEDULE_RATE: {
    audience: "author",
    message: "the plugin has used the schedule more than {limit} times in {seconds} s",
    fix: "schedule less often; set a cron pattern once, since it counts for more",
  },
  ERR_STORE_FAILED: {
    audience: "operator",
    message: "the plugin's stored data is not available: {detail}",
    fix: "read the gateway's log, and check the permissions and free space of stateDir, or the database of kv.postgres",
  },
  ERR_STATE_LOCK: {
    audience: "operator",
    message: '{file} is not as Creel wrote it, at "{field}": {detail}',
    fix: "restore it from a backup; or move stateDir away, install the plugins again, and review what they ask for",
  },
  ERR_STATE_VERSION: {
    audience: "operator",
    message: "{file} has version {found}, but this Creel knows version {known}",
    fix: "update Creel",
  },
  ERR_STATE_CHANGED: {
    audience: "operator",
    message: 'Creel did not load the plugin "{plugin}": {file} {detail}',
    fix: 'run "creel update <id>" to restore the file, and find out who changed it',
  },
  ERR_STATE_UNKNOWN: {
    audience: "operator",
    message: 'no plugin "{plugin}" is installed{hint}',
    fix: 'run "creel list" to see the installed plugins',
  },
  ERR_STATE_ENTRY: {
    audience: "operator",
    message: 'the plugin "{plugin}" cannot be installed: "{field}" is not valid: {detail}',
    fix: "report it to the plugin's author",
  },
  ERR_DISK_FULL: {
    audience: "operator",
    message: "the disk is full, so Creel could not write to {path}",
    fix: "make room there, and run the command again; what was not written completely does not count",
  },
  ERR_DISK_READ_ONLY: {
    audience: "operator",
    message: "Creel cannot write to {path}: the file system is read-only",
    fix: "use a folder that can be written to: set stateDir in creel.json, or mount the file system for writing",
  },
  ERR_FILE_ACCESS: {
    audience: "operator",
    message: "this user may not use {path}: permission denied",
    fix: "run the command as the owner of that path, or give this user access to it",
  },
  ERR_FILE_DESCRIPTORS: {
    audience: "operator",
    message: "too many files are open, so Creel could not open {path}",
    fix: 'raise the limit ("ulimit -n 4096" in this shell), or end programs that hold many files open',
  },
  ERR_STATE_BUSY: {
    audience: "operator",
    message: "timed out after {ms} ms waiting for {owner} to release the lock on {dir}",
    fix: "let that process finish, or end it, and try again",
  },
  ERR_STATE_IO: {
    audience: "operator",
    message: "Creel cannot use the state folder {dir}: {detail}",
    fix: "check its permissions, and that the disk has room",
  },
  ERR_AUDIT_UNKNOWN: {
    audience: "operator",
    message: 'the audit log has no run "{run}": {known}',
    fix: 'run "creel explain" to list the last runs; the log holds only runs of this state folder that were blocked or in which a call failed',
  },
  ERR_AUDIT_AMBIGUOUS: { audience: "operator", message: 'several runs begin with "{run}": {runs}{more}', fix: "pass more of the run's id" },
  ERR_SANDBOX_DIED: {
    audience: "operator",
    message: "the sandbox ended while this call was in it: {detail}",
    fix: "none needed: Creel starts a replacement",
  },
  ERR_SANDBOX_STUCK: {
    audience: "operator",
    message: "the lane did not answer within {ms} ms, so Creel replaces it",
    fix: "none needed: Creel starts a replacement",
  },
  ERR_SANDBOX_WEDGED: {
    audience: "operator",
    message: "a turn could not be stopped for {ms} ms",
    fix: "none needed: Creel replaces the sandbox and moves the plugin to the slow lane",
  },
  ERR_SANDBOX_FROZEN: {
    audience: "operator",
    message: "the sandbox process no longer answers",
    fix: "none needed: Creel kills and replaces it",
  },
  ERR_SANDBOX_MEMORY: {
    audience: "operator",
    message: "the sandbox process takes {mb} MB of memory, but the limit is {limit} MB",
    fix: "none needed: Creel kills and replaces it; sandbox.memoryMb sets the limit",
  },
  ERR_SANDBOX_KILLED: {
    audience: "operator",
    message: "{detail} while it used {mb} of its {limit} MB of memory",
    fix: "none needed: Creel starts a replacement; if the kernel killed it for lack of memory, give the machine more, or lower sandbox.memoryMb",
  },
  ERR_SANDBOX_LINK: {
    audience: "operator",
    message: "the link to the sandbox ended: {detail}",
    fix: "none needed: Creel kills and replaces the sandbox",
  },
  ERR_SANDBOX_START: {
    audience: "operator",
    message: "the sandbox did not start: {detail}",
    fix: "check that isolated-vm loads on this machine",
  },
  ERR_SANDBOX_WALLS: {
    audience: "operator",
    message: 'sandbox.walls is "required", but this machine cannot build the walls around the sandbox: {detail}',
    fix: 'run "creel doctor" to see what is missing, or set sandbox.walls to "auto"',
  },
  ERR_SANDBOX_PROTOCOL: {
    audience: "operator",
    message: "the sandbox sent a message that breaks the protocol: {detail}",
    fix: "none needed: Creel kills and replaces it",
  },
  ERR_OUTBOX_FULL: {
    audience: "operator",
    message: 'the event of "{hook}" was not kept: the outbox holds {bytes} bytes, and its limit is {limit}',
    fix: 'see why events are not delivered with "creel tail --fact delivery", and drop those that were given up with "creel dead drop"',
  },
  ERR_OUTBOX_UNKNOWN: {
    audience: "operator",
    message: 'no event that was given up has the id "{id}"',
    fix: 'run "creel dead list" to see the ids',
  },
  ERR_FLEET_UNSET: {
    audience: "operator",
    message: "the configuration has no fleet",
    fix: 'add the key "fleet" to creel.json; "creel fleet keys" makes keys and the server\'s configuration',
  },
  ERR_FLEET_CLIENT: {
    audience: "operator",
    message: "the configuration has a fleet, but the client for NATS cannot be loaded: {detail}",
    fix: 'run "npm install @nats-io/transport-node @nats-io/kv" beside creel',
  },
  ERR_FLEET_CONNECT: {
    audience: "operator",
    message: "no NATS server can be reached at {servers}: {detail}",
    fix: "check the servers and the certificate authority of the fleet in creel.json",
  },
  ERR_FLEET_REFUSED: {
    audience: "operator",
    message: 'the NATS server at {servers} refuses the key of "{name}": {detail}',
    fix: "check the credentials of the fleet in creel.json, and that the server's accounts name this member",
  },
  ERR_FLEET_VERSION: {
    audience: "operator",
    message: "the NATS server has version {version}, but a version before {oldest} can lose data in a crash",
    fix: "install a newer nats-server",
  },
  ERR_FLEET_AWAY: {
    audience: "operator",
    message: "the fleet's server is away",
    fix: "wait until it is back: hosts go on with what they have",
  },
  ERR_FLEET_NOBODY: {
    audience: "operator",
    message: 'no member of the fleet answers at "{subject}"',
    fix: 'run "creel fleet list" to see which hosts are there',
  },
  ERR_FLEET_LATE: {
    audience: "operator",
    message: 'no answer came in time from "{subject}"',
    fix: 'run "creel fleet list" to see which hosts are there',
  },
  ERR_FLEET_FORBIDDEN: {
    audience: "operator",
    message: 'the server does not allow this member to use "{subject}"',
    fix: "check the name and the credentials of this member, and the permissions in the server's configuration",
  },
  ERR_FLEET_FAILED: {
    audience: "operator",
    message: 'the fleet\'s server failed at "{subject}": {detail}',
    fix: "read the log of nats-server",
  },
  ERR_FLEET_SIGNATURE: {
    audience: "operator",
    message: "the fleet's list of plugins has no valid signature of an operator: {detail}",
    fix: "check who wrote it; if the operator has a new key, add it to the operators of the fleet in creel.json",
  },
  ERR_FLEET_ROLLBACK: {
    audience: "operator",
    message: "the fleet's list of plugins is change {serial}, but this host already has change {applied}",
    fix: 'check who put an older list there, then run "creel fleet push" where the last change was made',
  },
  ERR_FLEET_ENTRY: {
    audience: "operator",
    message: "the fleet's entry of {plugin} cannot be used: {detail}",
    fix: "check who changed it, and install the plugin again",
  },
  ERR_FLEET_BUNDLE: {
    audience: "operator",
    message: "the fleet's files of {plugin} cannot be used: {detail}",
    fix: "check who changed them, and install the plugin again",
  },
  ERR_FLEET_LOAD: {
    audience: "operator",
    message: "{plugin} did not load: {detail}",
    fix: 'read the log of the host; then install a version that loads, and run "creel fleet push"',
  },
  ERR_FLEET_RACE: {
    audience: "operator",
    message: "another operator changed the fleet's list of plugins at the same time",
    fix: "run the command again",
  },
  ERR_FLEET_BEHIND: {
    audience: "operator",
    message: "the fleet is at change {serial}, but the state folder here knows only change {applied}",
    fix: 'run "creel fleet pull", then the command again',
  },
  ERR_FLEET_EVENTS: {
    audience: "operator",
    message: "the fleet's servers give out no durable events of {plugin}: it has no consumer there, or they are choosing its leader",
    fix: 'run "creel fleet push", with "fleet.durable" in the operator\'s creel.json',
  },
  ERR_FLEET_APPLIED: {
    audience: "operator",
    message: "{file} is broken, so this host does not know which change of the fleet it has",
    fix: "restore the file from a backup, or delete it if the fleet's servers can be trusted",
  },
  ERR_SERVE_CONNECT: {
    audience: "operator",
    message: 'no host answers at "{path}": {detail}',
    fix: 'start one with "creel serve", or check the path',
  },
  ERR_SERVE_LOST: {
    audience: "gateway",
    message: 'the connection to the host at "{path}" was lost: {detail}',
    fix: "check whether requests in flight took effect; the next call connects again",
  },
  ERR_SERVE_REFUSED: {
    audience: "gateway",
    message: "the host refused the connection: {detail}",
    fix: 'send a hello with the protocol\'s version and the token from the file beside the socket first; see "creel help serve-protocol"',
  },
  ERR_SERVE_RUNNING: {
    audience: "operator",
    message: 'a host already listens at "{path}" (pid {pid})',
    fix: 'use that host, end it, or choose another path with "creel serve --socket <path>"',
  },
  ERR_SERVE_PLACE: {
    audience: "operator",
    message: 'a socket at "{path}" is unsafe or impossible: {detail}',
    fix: "choose a path in a folder that only you can enter (mode 0700)",
  },
  ERR_SERVE_FRAME: {
    audience: "gateway",
    message: "a message on the socket breaks the protocol: {detail}",
    fix: 'see "creel help serve-protocol" for every frame',
  },
  ERR_SERVE_BUSY: {
    audience: "gateway",
    message: "this connection already has {limit} requests pending",
    fix: "wait for responses before you send more, or open another connection",
  },
  ERR_SERVE_CANCELLED: { audience: "gateway", message: "the request was cancelled", fix: "none needed: the client cancelled it" },
  ERR_SERVE_FAILED: { audience: "operator", message: "the host could not answer: {detail}", fix: 'read the log of "creel serve"' },
  ERR_SERVE_UNABLE: {
    audience: "gateway",
    message: "{what} is not possible with a host in another process: it would block on a socket",
    fix: "use await host.run, or open a host in this process",
  },
  ERR_REPLAY_NETWORK: {
    audience: "author",
    message: "this is a replay: no request leaves it",
    fix: "none needed: a replay has no network, and the plugin must handle a failed request",
  },
  ERR_REPLAY_SHARED_KV: {
    audience: "operator",
    message: "this is a replay: the store of this plugin is in the shared database, which a replay neither copies nor changes",
    fix: "none needed: what a plugin decides by entries that kv.shared in creel.json shares cannot be replayed",
  },
  ERR_REPLAY_PLUGIN: {
    audience: "operator",
    message: 'there is no plugin "{plugin}" to change{hint}',
    fix: 'run "creel list" for the ids of installed plugins',
  },
  ERR_REPLAY_EMPTY: {
    audience: "operator",
    message: "there is no recording in {path}{detail}",
    fix: "set record.enabled in creel.json, restart the gateway, and let it work for a while",
  },
  ERR_REPLAY_RUN: {
    audience: "operator",
    message: "no recorded run has the id {runId}",
    fix: 'run "creel replay --json" for the ids of recorded runs that differ, or record for longer with record.maxAgeHours',
  },
  ERR_REPLAY_EVENT: {
    audience: "operator",
    message: "the event of run {runId} was not kept whole",
    fix: "set record.enabled in creel.json, so that events are recorded whole",
  },
  ERR_INCIDENT_INVALID: {
    audience: "author",
    message: "{file} is not an incident of Creel: {detail}",
    fix: 'make one with "creel explain <runId> --save <file>"',
  },
  ERR_APPROVAL_CHANGED: {
    audience: "operator",
    message: "digest mismatch: you answered {given}, but approval {id} is about {found}",
    fix: 'run "creel approvals list", and answer what it shows',
  },
  ERR_SERVE_HTTP: {
    audience: "operator",
    message: "the host cannot listen for HTTP hooks on port {port}: {detail}",
    fix: 'choose another port with "creel serve --http <port>"',
  },
  ERR_CONSOLE_PORT: {
    audience: "operator",
    message: "the console cannot listen on port {port}: {detail}",
    fix: 'choose another port with "creel console --port <port>", or 0 for any free one',
  },
  ERR_CONSOLE_ADDRESS: {
    audience: "gateway",
    message: "the console listens on this machine only, not on {address}",
    fix: 'use 127.0.0.1 or ::1; from another machine, use "ssh -L <port>:127.0.0.1:<port>" with the same port on both sides',
  },
  ERR_CONSOLE_GRANT: {
    audience: "operator",
    message: "{key} cannot be granted to {plugin} in the console: the plugin did not ask for it, or it is a risk",
    fix: 'use "creel permissions grant" with the plugin and the key: it says what the risk is, and asks',
  },
  ERR_CONSOLE_TOOLS: {
    audience: "operator",
    message: "this console does not have the project's files",
    fix: "use the command line in the folder of creel.json, or start the console there",
  },
  ERR_CONSOLE_PAGE: {
    audience: "operator",
    message: "the console's page could not be built from the sources: {detail}",
    fix: 'run "npm ci" in the clone of Creel; an installed package contains the page',
  },
  ERR_TELEMETRY_API: {
    audience: "operator",
    message: "telemetry is on, and @opentelemetry/api cannot be loaded: {detail}",
    fix: 'run "npm install @opentelemetry/api" beside Creel, or switch telemetry off',
  },
  ERR_HOOK_PAYLOAD: {
    audience: "operator",
    message: "the {event} hook of {agent} sent something that Creel cannot read: {detail}",
    fix: 'check the versions of the agent and of Creel; "creel help other-agents" has the formats',
  },
  ERR_HOOK_SLOW: {
    audience: "operator",
    message: "the host did not answer a hook within {ms} ms",
    fix: 'see which plugin takes so long with "creel tail"',
  },
  ERR_HOOK_SETTINGS: {
    audience: "operator",
    message: 'the hooks in "{path}" cannot be changed: {detail}',
    fix: "correct that file, or choose another with --file <path>",
  },
} as const satisfies Record<string, { audience: Audience; message: string; fix: string }>;

export type ErrorCode = keyof typeof ERRORS;
/** `at` and `frame` may stand beside the places of a text: where the mistake is, and the lines to show at a terminal. */
export type ErrorParams = Record<string, string | number | undefined>;

export function errorMessage(code: ErrorCode, params: ErrorParams = {}): string {
  return filled(ERRORS[code].message, params);
}

/** Fills the `{name}` places of a text of the table. */
function filled(text: string, params: ErrorParams): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? ""));
}

export class CreelError extends Error {
  override readonly name = "CreelError";
  readonly code: ErrorCode;
  readonly params: ErrorParams;

  constructor(code: ErrorCode, params: ErrorParams = {}, options?: ErrorOptions) {
    super(errorMessage(code, params), options);
    this.code = code;
    this.params = params;
  }

  get fix(): string {
    return filled(ERRORS[this.code].fix, this.params);
  }
}
