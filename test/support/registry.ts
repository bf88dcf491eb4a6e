/** A package registry on this machine, so that the real npm can be used without the network. Serves what `npm pack` made of folders. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pack } from "../../src/install/fetch/npm.ts";
import { folder } from "./files.ts";

export interface Registry extends AsyncDisposable {
  /** For the environment of npm: this registry, and a cache of its own. */
  readonly env: Readonly<Record<string, string>>;
  /** What was asked for. */
  readonly requests: string[];
  /** `says`: more of what the registry says about the version. */
  publish(manifest: PackageManifest, files?: Readonly<Record<string, string>>, says?: Says): Promise<void>;
  /** From now on the archive is served with one byte changed. */
  tamper(name: string): void;
}

interface Says {
  readonly deprecated?: string;
  readonly publishedAt?: string;
  readonly dist?: Readonly<Record<string, unknown>>;
}

interface PackageManifest extends Record<string, unknown> {
  readonly name: string;
  readonly version: string;
}

export async function openRegistry(): Promise<Registry> {
  const packuments = new Map<
    string,
    { name: string; "dist-tags": { latest: string }; versions: Record<string, unknown>; time: Record<string, string> }
  >();
  const archives = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url!);
    requests.push(path);
    const archive = archives.get(path);
    const packument = packuments.get(path.slice(1));
    if (archive) response.end(archive);
    else response.writeHead(packument ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(packument ?? {}));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = folder({ ".npmrc": "" });
  const env = {
    npm_config_registry: `${origin}/`,
    npm_config_cache: join(home, "cache"),
    npm_config_userconfig: join(home, ".npmrc"),
    npm_config_globalconfig: join(home, "none"),
    npm_config_fetch_retries: "0",
  };
  return {
    env,
    requests,
    async publish(manifest, files = {}, { deprecated, publishedAt, dist } = {}) {
      const { name, version } = manifest;
      const root = folder({ "package.json": JSON.stringify(manifest), ...files });
      const [made] = await pack([root], join(home, "packed"), { env });
      const bytes = await readFile(made!.path);
      const path = `/${name}/-/${name.split("/").at(-1)}-${version}.tgz`;
      archives.set(path, bytes);
      const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
      const packument = packuments.get(name) ?? { name, "dist-tags": { latest: version }, versions: {}, time: {} };
      packument["dist-tags"].latest = version;
      packument.versions[version] = { ...manifest, deprecated, dist: { tarball: `${origin}${path}`, integrity, ...dist } };
      if (publishedAt !== undefined) packument.time[version] = publishedAt;
      packuments.set(name, packument);
    },
    tamper(name) {
      for (const [path, bytes] of archives)
        if (path.startsWith(`/${name}/-/`)) archives.set(path, Buffer.concat([bytes, Buffer.from([0])]));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
