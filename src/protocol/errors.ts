/**
 * Every error Creel raises, in one table: what happened, what to do, and who reads it. `CreelError` keeps its
 * code across threads and processes because it travels as `{ code, message }` and is rebuilt from the table.
 */
type Audience = "gateway" | "author" | "operator";

export const ERRORS = {
  ERR_HOOK_UNKNOWN: {
    audience: "gateway",
    message: 'there is no hook named "{hook}"{hint}',
    fix: "use a name of the catalog, or add your own with defineHook",
  },
  ERR_HOOK_KIND: {
    audience: "gateway",
    message: 'the hook "{hook}" is of kind {kind}: {use}',
    fix: "call the method that fits the hook's kind",
  },
  ERR_HOOK_DEFINED: {
    audience: "gateway",
    message: 'a hook named "{hook}" is already in the catalog',
    fix: "give your own hook another name",
  },
  ERR_EVENT_INVALID: {
    audience: "gateway",
    message: 'the event of "{hook}" is not valid at "{field}": {detail}',
    fix: "send the event as the catalog describes it",
  },
  ERR_CONTEXT_INVALID: {
    audience: "gateway",
    message: 'the context of "{hook}" is not valid at "{field}": {detail}',
    fix: "send the context as the catalog describes it",
  },
  ERR_EVENT_NOT_JSON: {
    audience: "gateway",
    message: 'the event or context of "{hook}" cannot be written as JSON: {detail}',
    fix: "remove cycles and BigInts",
  },
  ERR_EVENT_SIZE: {
    audience: "gateway",
    message: 'the event and context of "{hook}" take {bytes} bytes, the limit is {limit}',
    fix: "send less, or raise limits.eventBytes",
  },
  ERR_HOST_CLOSED: { audience: "gateway", message: "the host is closed", fix: "open a new host" },
  ERR_HOST_OPTIONS: {
    audience: "gateway",
    message: 'the options of openHost are not valid at "{field}": {detail}',
    fix: "see docs/embedding.md",
  },
  ERR_CONFIG_INVALID: {
    audience: "operator",
    message: '{source} is not valid at "{field}": {detail}',
    fix: "see docs/config.md for every key",
  },
  ERR_CONFIG_READ: {
    audience: "operator",
    message: "the configuration {source} cannot be read: {detail}",
    fix: "check the path and that the file is JSON",
  },
  ERR_CONFIG_EDIT: {
    audience: "operator",
    message: '{source} cannot be changed at "{field}": {detail}',
    fix: "make the change by hand",
  },
  ERR_FUNCTION_UNKNOWN: {
    audience: "gateway",
    message: 'no plugin of this host has declared the {kind} "{name}"{hint}',
    fix: "host.tools(), host.commands(), host.methods() and host.services() list what there is",
  },
  ERR_PLUGIN_UNKNOWN: { audience: "gateway", message: 'there is no plugin "{plugin}" in this host', fix: "host.plugins() lists them" },
  ERR_PLUGIN_ID: {
    audience: "operator",
    message: '"{plugin}" is not a plugin id',
    fix: "use letters, digits, dots, dashes and underscores, optionally after @scope/",
  },
  ERR_PLUGIN_DUPLICATE: { audience: "operator", message: 'two plugins have the id "{plugin}"', fix: "remove one, or give it another id" },
  ERR_PLUGIN_ENTRY: {
    audience: "author",
    message: 'no entry file was found for the plugin at "{path}"',
    fix: "name it in creel.plugin.json as main, or call it index.ts or index.js",
  },
  ERR_PLUGIN_MANIFEST: {
    audience: "author",
    message: 'the manifest "{path}" is not valid at "{field}": {detail}',
    fix: "see docs/writing-plugins.md",
  },
  ERR_PLUGIN_BUNDLE: {
    audience: "author",
    message: "the plugin could not be bundled: {detail}",
    fix: "mend the file and line named above",
  },
  ERR_PLUGIN_BUNDLE_CRASH: {
    audience: "author",
    message: 'the plugin "{plugin}" could not be bundled: the bundler crashed on it ({detail})',
    fix: "look for code that nests thousands of levels deep, or is no code at all",
  },
  ERR_PLUGIN_BUNDLE_LIMIT: {
    audience: "author",
    message: 'the plugin "{plugin}" could not be bundled: the bundler took more than {limit} for it, and was stopped',
    fix: "leave out what the plugin does not use",
  },
  ERR_ARCHIVE_READ: {
    audience: "operator",
    message: "the archive {path} cannot be read: {detail}",
    fix: "name a file that npm pack has made, and that you may read",
  },
  ERR_ARCHIVE_STAGING: {
    audience: "operator",
    message: "the archive cannot be unpacked into {path}: {detail}",
    fix: "give an empty folder that is your own, and that nobody else may write to",
  },
  ERR_ARCHIVE_FORMAT: {
    audience: "operator",
    message: "the archive is not made as npm pack makes them: {detail}",
    fix: "fetch it again; if it is the same then, ask its author to make it with npm pack",
  },
  ERR_ARCHIVE_TRUNCATED: {
    audience: "operator",
    message: "the archive ends too early: {detail}",
    fix: "fetch it again",
  },
  ERR_ARCHIVE_TRAILING: {
    audience: "operator",
    message: "the archive goes on after its end: {detail}",
    fix: "fetch it again; if it is the same then, do not install it: what is behind the end is not shown to you by every tool",
  },
  ERR_ARCHIVE_LIMIT: {
    audience: "operator",
    message: "the archive has more than {limit} {what}",
    fix: "do not install it, unless you know why it is so large; its author can leave out what a plugin does not use",
  },
  ERR_ARCHIVE_TIME: {
    audience: "operator",
    message: "the archive was not unpacked within {ms} ms",
    fix: "try again when the machine is less busy",
  },
  ERR_ARCHIVE_EMPTY: {
    audience: "operator",
    message: "the archive holds no file",
    fix: "name an archive that npm pack has made",
  },
  ERR_ARCHIVE_ROOT: {
    audience: "operator",
    message: 'the archive\'s entry "{entry}" {detail}',
    fix: "all files of a package lie in one folder, as npm pack puts them; ask its author to make it with npm pack",
  },
  ERR_ARCHIVE_PATH: {
    audience: "operator",
    message: "the archive's entry \"{entry}\" does not stay in the package's folder: {detail}",
    fix: "do not install it: no tool makes such an archive by accident",
  },
  ERR_ARCHIVE_NAME: {
    audience: "operator",
    message: 'the archive\'s entry "{entry}" has a name that is not the same file everywhere: {detail}',
    fix: "ask its author to rename the file",
  },
  ERR_ARCHIVE_COLLISION: {
    audience: "operator",
    message: 'the archive\'s entries "{entry}" and "{other}" are in each other\'s place: {detail}',
    fix: "do not install it: which of them you get depends on the tool and the machine",
  },
  ERR_ARCHIVE_LINK: {
    audience: "operator",
    message: 'the archive\'s entry "{entry}" is a {kind}, and packages have none',
    fix: "ask its author to make it with npm pack, which leaves links out",
  },
  ERR_ARCHIVE_TYPE: {
    audience: "operator",
    message: 'the archive\'s entry "{entry}" is a {kind}, not a file or a folder',
    fix: "do not install it: npm pack makes nothing but files",
  },
  ERR_ARCHIVE_NATIVE: {
    audience: "operator",
    message: 'the archive\'s entry "{entry}" is {kind}: native code cannot run inside the sandbox',
    fix: "look for a version of the plugin that is all JavaScript or WebAssembly",
  },
  ERR_INSTALL_JSON: {
    audience: "operator",
    message: "{path}:{line}:{column}: {detail}",
    fix: "ask the plugin's author to mend the file",
  },
  ERR_INSTALL_ID: {
    audience: "operator",
    message: '"{plugin}" cannot be the id of a plugin: {detail}',
    fix: "ask the plugin's author for another id; do not install it if the id was made to look like another one",
  },
  ERR_BUNDLER_START: {
    audience: "operator",
    message: "the bundler did not start: {detail}",
    fix: "check that rolldown and its binding for this platform are installed",
  },
  ERR_PLUGIN_MODULE: {
    audience: "author",
    message: 'the module "{module}" is not available inside the sandbox',
    fix: "use what the message names; docs/openclaw-plugins.md has the table of modules",
  },
  ERR_PLUGIN_ABSENT: {
    audience: "author",
    message: "the plugin cannot run here: {sentence}{more}",
    fix: "do without it, or in the way the message names; docs/openclaw-plugins.md has the table of modules",
  },
  ERR_PLUGIN_SIZE: {
    audience: "author",
    message: "the plugin's bundle has {bytes} bytes, the limit is {limit}",
    fix: "leave out what the plugin does not use",
  },
  ERR_PLUGIN_SYNTAX: { audience: "author", message: "the plugin's bundle does not parse: {detail}", fix: "mend the syntax error" },
  ERR_PLUGIN_EXPORT: {
    audience: "author",
    message: "the plugin's default export is {found}",
    fix: "export definePlugin({ id, register }), a plain { id, register }, or a function (api) => …",
  },
  ERR_PLUGIN_LOAD: { audience: "author", message: "the plugin failed while loading: {detail}", fix: "see the file and line in the error" },
  ERR_PLUGIN_REGISTRATION: {
    audience: "author",
    message: 'what the plugin registered is not valid at "{field}": {detail}',
    fix: "see docs/writing-plugins.md for api.on",
  },
  ERR_PLUGIN_QUARANTINED: {
    audience: "operator",
    message: 'the handler was not called: the plugin "{plugin}" is quarantined {until}, or until host.release("{plugin}"): {why}',
    fix: "mend or update the plugin; host.release lets it out as it is",
  },
  ERR_CALL_FAILED: { audience: "author", message: "the handler threw: {detail}", fix: "see the file and line in the error" },
  ERR_CALL_RESULT: {
    audience: "author",
    message: 'the handler\'s result is not valid at "{field}": {detail}',
    fix: "return what the hook's result type says, or nothing",
  },
  ERR_CALL_RESULT_SIZE: {
    audience: "author",
    message: "the handler's result has {bytes} characters, the limit is {limit}",
    fix: "return less",
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
    fix: "do less, or ask for a larger timeoutMs",
  },
  ERR_CALL_CPU: {
    audience: "author",
    message: "the handler kept its thread past its {ms} ms of CPU time",
    fix: "do less per call, or ask the operator for a larger cpuMs",
  },
  ERR_CALL_TURN: {
    audience: "operator",
    message: "a turn was ended although it had a CPU for only {cpuMs} ms of its {budgetMs}: the machine is too busy",
    fix: "run less beside it, or give it a larger cpuMs",
  },
  ERR_CALL_WEDGED: {
    audience: "author",
    message: "the handler went into something that V8 cannot stop, and kept its thread for {ms} ms: its sandbox was replaced",
    fix: "do less per call: large BigInts, array-likes of huge length and growing heaps are the usual causes",
  },
  ERR_CALL_MEMORY: {
    audience: "author",
    message: "the plugin's heap grew past {mb} MB",
    fix: "keep less, or ask the operator for a larger heapMb",
  },
  ERR_CALL_EVENT_SIZE: {
    audience: "operator",
    message: "the event takes {bytes} characters, and the plugin may be given {limit}",
    fix: "raise limits.bytesIn of the plugin, if it needs such events",
  },
  ERR_CALL_PENDING: { audience: "author", message: "the plugin already has {limit} calls pending", fix: "settle earlier calls first" },
  ERR_CALL_REPLACED: {
    audience: "author",
    message: "the plugin's cell was replaced while this call was pending: {detail}",
    fix: "see the failure that caused it",
  },
  ERR_CALL_NOT_LOADED: { audience: "operator", message: "the plugin is not loaded: {detail}", fix: "mend or disable the plugin" },
  ERR_RECURSION_DEPTH: {
    audience: "author",
    message: "the {what} was refused: {limit} runs have caused each other already ({path})",
    fix: "do not patch, or call the gateway, in answer to your own doing",
  },
  ERR_RECURSION_RATE: {
    audience: "author",
    message: "the patch was refused: more than {limit} patches of session {session} in {seconds} s ({path})",
    fix: "patch less often, and not in answer to your own patch",
  },
  ERR_RECURSION_OWN: {
    audience: "author",
    message: "the handler was not called: the event is the doing of its own plugin ({path})",
    fix: "register it with reentrant: true if that is meant",
  },
  ERR_RECURSION_NESTED: {
    audience: "author",
    message: "the handler was not called: {hook} is not run inside itself ({path})",
    fix: "do not make the gateway start in answer to a hook what runs the hook again",
  },
  ERR_SERVICE_UNKNOWN: { audience: "author", message: 'there is no service "{service}"', fix: "see docs/writing-plugins.md" },
  ERR_SERVICE_ABSENT: {
    audience: "gateway",
    message: "this gateway does not offer {service}",
    fix: "give openHost the gateway's function for it",
  },
  ERR_SERVICE_ARGUMENT: {
    audience: "author",
    message: 'the argument of {service} is not valid at "{field}": {detail}',
    fix: "see docs/writing-plugins.md",
  },
  ERR_SERVICE_BUDGET: {
    audience: "author",
    message: "one call may ask the host {limit} times",
    fix: "ask less often, or ask the operator for a larger limits.hostCalls",
  },
  ERR_SERVICE_BUSY: {
    audience: "author",
    message: "the plugin already has {limit} questions to the host pending",
    fix: "wait for earlier answers first",
  },
  ERR_SERVICE_SIZE: {
    audience: "author",
    message: "the {what} of {service} has {bytes} characters, the limit is {limit}",
    fix: "ask for less",
  },
  ERR_SERVICE_FAILED: { audience: "author", message: "the gateway refused or failed: {detail}", fix: "see the message" },
  ERR_GRANT_MISSING: {
    audience: "operator",
    message: "{service} is not granted to {plugin}",
    fix: "add the grant the plugin needs, if you trust it with that",
  },
  ERR_INSTALL_SOURCE: {
    audience: "operator",
    message: '"{source}" cannot be installed: {detail}',
    fix: "name a package (name or name@version), a folder (./x), a tarball (x.tgz) or a git repository (git:https://…)",
  },
  ERR_INSTALL_NO_NPM: { audience: "operator", message: "npm was not found", fix: "install npm, or put it on the PATH" },
  ERR_INSTALL_NPM: { audience: "operator", message: "npm {command} failed: {detail}", fix: "see npm's message; nothing was changed" },
  ERR_INSTALL_GIT: { audience: "operator", message: "git {command} failed: {detail}", fix: "see git's message; nothing was changed" },
  ERR_INSTALL_INTEGRITY: {
    audience: "operator",
    message: "{what} is not what was announced: its integrity is {found}, and should be {expected}",
    fix: "do not install it; somebody between the registry and you has changed it",
  },
  ERR_INSTALL_DEPENDENCY: {
    audience: "operator",
    message: 'the dependency "{dependency}" cannot be pinned: {detail}',
    fix: "ask the author to depend on published packages only",
  },
  ERR_INSTALL_REGISTER: {
    audience: "operator",
    message: 'the plugin "{plugin}" does not register in a sandbox without grants: {detail}',
    fix: 'nothing was installed; "creel check" on its folder says more to its author',
  },
  ERR_INSTALL_DIGEST: {
    audience: "operator",
    message: "what is to be accepted is {given}, and what is there to be accepted is {found}",
    fix: "look at the review again: what would be installed has changed, or is not what you looked at",
  },
  ERR_INSTALL_GRANT: {
    audience: "operator",
    message: '"{key}" is not the key of a permission{hint}',
    fix: "use a key of the review ({known}), or one such as fetch:https://api.example.com/v1#GET, env:NAME, kv",
  },
  ERR_INSTALL_BLOCKED: {
    audience: "operator",
    message: 'the plugin "{by}" does not let "{plugin}" be installed: {reason}',
    fix: 'see the reason; if the guard itself is broken, "creel disable {by}" takes it out of the way',
  },
  ERR_INSTALL_RACE: {
    audience: "operator",
    message: 'the plugin "{plugin}" was changed by somebody else meanwhile',
    fix: "nothing was changed; look at it again",
  },
  ERR_INSTALL_NO_STATE: {
    audience: "operator",
    message: "there is no state folder to keep plugins in",
    fix: 'write "stateDir": ".creel" into the creel.json, or give --state-dir, or set CREEL_STATE_DIR; where there is no creel.json, "creel install" makes one',
  },
  ERR_FETCH_URL: {
    audience: "author",
    message: "fetch cannot be asked for this URL: {detail}",
    fix: "give an absolute http or https URL without a user name",
  },
  ERR_FETCH_METHOD: {
    audience: "operator",
    message: "{method} {origin} is not granted to {plugin}",
    fix: "add the method to the grant's methods, if you trust the plugin with that",
  },
  ERR_FETCH_PATH: {
    audience: "operator",
    message: "this path of {origin} is not granted to {plugin}",
    fix: "widen the grant's pathPrefix, if you trust the plugin with that",
  },
  ERR_FETCH_ADDRESS: {
    audience: "operator",
    message: "{origin} was not reached: its name does not resolve to a public address",
    fix: "if it is meant, grant the address itself, or localhost, as the origin",
  },
  ERR_FETCH_HEADER: {
    audience: "author",
    message: "the request's headers are not valid: {detail}",
    fix: "send headers of printable Latin-1 text",
  },
  ERR_FETCH_REDIRECT: {
    audience: "author",
    message: "{origin} redirected the request, which was not followed: {detail}",
    fix: 'ask for the last address itself, or use redirect: "manual"',
  },
  ERR_FETCH_REQUEST_SIZE: {
    audience: "author",
    message: "the request's body has {bytes} bytes, the limit is {limit}",
    fix: "send less",
  },
  ERR_FETCH_RESPONSE_SIZE: {
    audience: "author",
    message: "the answer of {origin} has more than {limit} bytes",
    fix: "ask for less",
  },
  ERR_FETCH_TIMEOUT: {
    audience: "author",
    message: "{origin} did not answer in full within {ms} ms",
    fix: "ask for less, or try again later",
  },
  ERR_FETCH_BODY: {
    audience: "author",
    message: "the answer's body cannot be read: {detail}",
    fix: "read a body soon, in one place, and to its end",
  },
  ERR_FETCH_ABORTED: { audience: "author", message: "the request was aborted", fix: "none needed: it was the plugin's own doing" },
  ERR_FETCH_FAILED: { audience: "author", message: "the request to {origin} failed: {detail}", fix: "try again later" },
  ERR_FETCH_BUSY: {
    audience: "author",
    message: "the plugin already has {limit} requests pending",
    fix: "wait for earlier answers first",
  },
  ERR_FETCH_RATE: {
    audience: "author",
    message: "the plugin has made more than {limit} requests in {seconds} s",
    fix: "make fewer, and none in answer to your own doing",
  },
  ERR_KV_QUOTA: {
    audience: "operator",
    message: "the store may hold {limit} {what}, and this would make it {count}; nothing was written",
    fix: "delete something, or set a larger grants.kv.maxBytes",
  },
  ERR_KV_NUMBER: {
    audience: "author",
    message: "the entry cannot be incremented: {detail}",
    fix: "keep nothing but numbers under keys that are incremented",
  },
  ERR_KV_CONFLICT: {
    audience: "author",
    message: "the entry was changed by others each of the {limit} times it was to be updated",
    fix: "use increment for counters, or spread the updates over several keys",
  },
  ERR_KV_RATE: {
    audience: "author",
    message: "the plugin has used its store more than {limit} times in {seconds} s",
    fix: "read several keys with getMany, and write less often",
  },
  ERR_VOLUME_REFUSED: {
    audience: "operator",
    message: "what the cell says it did to its files was refused, and it was loaded again: {detail}",
    fix: "the plugin's own copy kept to other rules than the host's: do not trust the plugin",
  },
  ERR_SCHEDULE_PATTERN: {
    audience: "author",
    message: "the cron pattern is not valid: {detail}",
    fix: "give five fields: minute, hour, day of the month, month, day of the week",
  },
  ERR_SCHEDULE_QUOTA: {
    audience: "author",
    message: "the plugin already has {limit} jobs waiting",
    fix: "cancel those that are not needed, or give them ids, so that one replaces another",
  },
  ERR_SCHEDULE_RATE: {
    audience: "author",
    message: "the plugin has used the schedule more than {limit} times in {seconds} s",
    fix: "schedule less often; a cron pattern needs to be given only once, and counts for more",
  },
  ERR_STORE_FAILED: {
    audience: "operator",
    message: "what the plugin has stored is not available: {detail}",
    fix: "see the gateway's log, and the permissions and free space of stateDir",
  },
  ERR_STATE_LOCK: {
    audience: "operator",
    message: '{file} is not what Creel wrote, at "{field}": {detail}',
    fix: "put it back from a backup; or move stateDir away, install the plugins again, and look at what they ask for",
  },
  ERR_STATE_VERSION: {
    audience: "operator",
    message: "{file} is of version {found}, and this Creel knows version {known}",
    fix: "update Creel",
  },
  ERR_STATE_CHANGED: {
    audience: "operator",
    message: 'the plugin "{plugin}" is not loaded: {file} {detail}',
    fix: "install the plugin again, and find out who changed the file",
  },
  ERR_STATE_UNKNOWN: { audience: "operator", message: 'no plugin "{plugin}" is installed', fix: '"creel list" shows those that are' },
  ERR_STATE_ENTRY: {
    audience: "operator",
    message: 'the plugin "{plugin}" cannot be installed: "{field}" is not valid: {detail}',
    fix: "tell the plugin's author",
  },
  ERR_STATE_BUSY: {
    audience: "operator",
    message: "{dir} is being changed by {owner}, and was waited for for {ms} ms",
    fix: "let it finish, or end it, and try again",
  },
  ERR_STATE_IO: {
    audience: "operator",
    message: "the state folder {dir} cannot be used: {detail}",
    fix: "check its permissions, and that the disk has room",
  },
  ERR_AUDIT_UNKNOWN: {
    audience: "operator",
    message: 'the audit log has no run "{run}": {known}',
    fix: 'only runs that were blocked or in which a call failed are in it, of hosts that use this state folder; "creel explain" lists the last',
  },
  ERR_AUDIT_AMBIGUOUS: {
    audience: "operator",
    message: 'several runs begin with "{run}": {runs}{more}',
    fix: "give more of the run's id",
  },
  ERR_SANDBOX_DIED: {
    audience: "operator",
    message: "the sandbox went away while this call was in it: {detail}",
    fix: "none needed: a replacement is started",
  },
  ERR_SANDBOX_STUCK: {
    audience: "operator",
    message: "the lane did not answer within {ms} ms and is replaced",
    fix: "none needed: a replacement is started",
  },
  ERR_SANDBOX_WEDGED: {
    audience: "operator",
    message: "a turn could not be stopped for {ms} ms",
    fix: "none needed: the sandbox is replaced, and the plugin moved to the slow lane",
  },
  ERR_SANDBOX_FROZEN: {
    audience: "operator",
    message: "the sandbox process does not answer any more",
    fix: "none needed: it is killed and replaced",
  },
  ERR_SANDBOX_MEMORY: {
    audience: "operator",
    message: "the sandbox process takes {mb} MB of memory, and may take {limit}",
    fix: "none needed: it is killed and replaced; sandbox.memoryMb sets the limit",
  },
  ERR_SANDBOX_START: {
    audience: "operator",
    message: "the sandbox did not start: {detail}",
    fix: "check that isolated-vm loads on this machine",
  },
  ERR_SANDBOX_WALLS: {
    audience: "operator",
    message: "sandbox.walls is required, and the sandbox cannot be walled in on this machine: {detail}",
    fix: 'run "creel doctor" for what is missing, or set sandbox.walls to "auto"',
  },
  ERR_SANDBOX_PROTOCOL: {
    audience: "operator",
    message: "the sandbox sent something that is not of the protocol: {detail}",
    fix: "none needed: it is killed and replaced",
  },
  ERR_SERVE_CONNECT: {
    audience: "operator",
    message: 'no host answers at "{path}": {detail}',
    fix: 'start one with "creel serve", or check the path',
  },
  ERR_SERVE_LOST: {
    audience: "gateway",
    message: 'the connection to the host at "{path}" was lost: {detail}',
    fix: "what was in flight may have been done or not; the next call connects again",
  },
  ERR_SERVE_REFUSED: {
    audience: "gateway",
    message: "the host refused the connection: {detail}",
    fix: "see docs/serve-protocol.md; the first frame is a hello with the protocol's version and the token beside the socket",
  },
  ERR_SERVE_RUNNING: {
    audience: "operator",
    message: 'a host listens at "{path}" already (pid {pid})',
    fix: "use that one, end it, or choose another path with --socket",
  },
  ERR_SERVE_PLACE: {
    audience: "operator",
    message: 'a socket at "{path}" is not safe, or not possible: {detail}',
    fix: "choose a path in a folder of your own that nobody else may enter (mode 0700)",
  },
  ERR_SERVE_FRAME: {
    audience: "gateway",
    message: "what came over the socket is not of the protocol: {detail}",
    fix: "see docs/serve-protocol.md for every frame",
  },
  ERR_SERVE_BUSY: {
    audience: "gateway",
    message: "{limit} requests of this connection wait for their answers already",
    fix: "wait for answers before asking more, or open another connection",
  },
  ERR_SERVE_CANCELLED: { audience: "gateway", message: "the request was cancelled", fix: "none needed: whoever asked has cancelled it" },
  ERR_SERVE_FAILED: {
    audience: "operator",
    message: "the host could not answer: {detail}",
    fix: "the log of creel serve has more",
  },
  ERR_SERVE_UNABLE: {
    audience: "gateway",
    message: "{what} is not possible with a host in another process: it would block on a socket",
    fix: "use await host.run, or open a host in this process",
  },
} as const satisfies Record<string, { audience: Audience; message: string; fix: string }>;

export type ErrorCode = keyof typeof ERRORS;
export type ErrorParams = Record<string, string | number | undefined>;

/** Fills the `{name}` places of the table's message. */
export function errorMessage(code: ErrorCode, params: ErrorParams = {}): string {
  return ERRORS[code].message.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(params[name] ?? ""));
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

  /** What to do about it. */
  get fix(): string {
    return ERRORS[this.code].fix;
  }
}
