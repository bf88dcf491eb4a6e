/**
 * A registry that has Creel, as if it were published: the packed tarball. For every other package it leads to the registry that this machine uses.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { PackedCreel } from "./packed.ts";

export interface CreelRegistry extends AsyncDisposable {
  readonly url: string;
}

export async function openCreelRegistry({ tarball, root, version }: PackedCreel, others: string): Promise<CreelRegistry> {
  const bytes = await readFile(tarball);
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Record<string, unknown>;
  const digest = createHash("sha512").update(bytes).digest();
  // npm's cache knows addresses: another tarball is at another one, whatever the port.
  const base = `/${digest.toString("hex").slice(0, 16)}/`;
  const archive = `${base}creel/-/creel-${version}.tgz`;
  const server = createServer((request, response) => {
    const { origin } = new URL(`http://${request.headers.host}`);
    if (request.url === archive) return response.end(bytes);
    if (request.url !== `${base}creel`) {
      const location = new URL(request.url!.replace(base, ""), others).href;
      return response.writeHead(307, { location }).end();
    }
    const integrity = `sha512-${digest.toString("base64")}`;
    const versions = { [version]: { ...manifest, dist: { tarball: `${origin}${archive}`, integrity } } };
    return response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ name: "creel", "dist-tags": { latest: version }, versions }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
