/** `creel sign`: signs a plugin's package, for operators who accept updates by signature. */
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

const FIX = 'make one with "openssl genpkey -algorithm ed25519 -out key.pem", and keep it secret';

export const sign = defineVerb({
  name: "sign",
  summary: "signs the files of a plugin's package with an Ed25519 key, for operators whose update.signedBy names it",
  takes: "<folder>",
  options: { key: { type: "string", value: "key.pem", help: "the private key, in PEM" } },
  examples: ["creel sign . --key ~/keys/plugin.pem && npm publish", "creel sign . --key plugin.pem --json | jq -r .key"],
  prints: "`file`, the signature that was written, `key`, as operators name it in `update.signedBy`, and the `files` that it covers",
  exits: { ok: "it is signed", failed: "it could not be signed, or the package would leave the signature out" },
  async run({ values, positionals, isJson, out }) {
    const [folder, extra] = positionals;
    if (folder === undefined || extra !== undefined) throw new UsageError("sign takes one folder", 'such as "creel sign . --key key.pem"');
    if (values.key === undefined) throw new UsageError("sign needs a private key (--key)", FIX);
    const { readFile } = await import("node:fs/promises");
    const { privateKeyOf } = await import("../../../install/manifest/signature.ts");
    const { signPackage } = await import("../../../install/manifest/sign-package.ts");
    const key = privateKeyOf(await readFile(values.key, "utf8").catch(() => ""));
    if (!key) throw new UsageError(`"${values.key}" is not a private Ed25519 key`, FIX);
    const signed = await signPackage(folder, key);
    if (isJson) out.line(JSON.stringify(signed, undefined, 2));
    else {
      out.line(`${out.paint("green", "✓")} ${signed.files.length} files signed in ${signed.file}`);
      out.line(`  operators who trust this key add "update": { "signedBy": ["${signed.key}"] } to their creel.json`);
    }
    return EXIT.ok;
  },
});
