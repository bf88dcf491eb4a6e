/** crypto.subtle: answered in the lane, with Node's own WebCrypto as the oracle. */
import { createHmac, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import { SubtleService } from "../../../../src/sandbox/lane/cell/subtle.ts";
import { contract, open, plugin, sharedHost, statuses } from "../../../support/host.ts";
import { oracle } from "./oracle.ts";

const SCRIPT = {
  setup: `
const { subtle } = globalThis.crypto;
const text = (t) => Buffer.from(t);
const raw = (bytes, algorithm, usages, extractable = true) => subtle.importKey("raw", Buffer.from(bytes), algorithm, extractable, usages);
const hmac = { name: "HMAC", hash: "SHA-256" };
const shown = ({ type, extractable, algorithm, usages }) => ({ type, extractable, algorithm, usages });
const jwk = { kty: "EC", crv: "P-256", x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", d: "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI" };
const named = async (promise) => { try { return ["no error", typeof (await promise)]; } catch (error) { return [error.name, error instanceof DOMException || error.name, error.message]; } };`,
  expressions: String.raw`
    Promise.all(["SHA-1", "SHA-256", "SHA-384", "sha-512", { name: "SHA-256" }].map((a) => subtle.digest(a, text("x"))))
    named(subtle.digest("MD5", text("x")))
    named(subtle.digest("SHA-256", "x").catch((e) => { throw Object.assign(e, { message: e.message.split("'")[0].slice(0, 0) }); }))
    raw("key", hmac, ["sign", "verify"]).then(shown)
    raw("key", hmac, ["sign"]).then((key) => subtle.sign("HMAC", key, text("data")))
    raw("key", hmac, ["sign", "verify"]).then(async (key) => subtle.verify("HMAC", key, await subtle.sign("HMAC", key, text("data")), text("data")))
    raw("key", hmac, ["verify"]).then((key) => subtle.verify("HMAC", key, Buffer.alloc(32), text("data")))
    raw("key", hmac, ["verify"]).then((key) => named(subtle.sign("HMAC", key, text("data"))))
    raw("key", hmac, ["sign"]).then((key) => subtle.exportKey("jwk", key))
    raw("key", hmac, ["sign"]).then((key) => subtle.exportKey("raw", key))
    raw("key", hmac, ["sign"], false).then((key) => named(subtle.exportKey("raw", key)))
    raw("key", hmac, ["sign"], false).then(shown)
    raw("0123456789abcdef", "AES-GCM", ["encrypt", "decrypt"]).then((key) => subtle.encrypt({ name: "AES-GCM", iv: Buffer.alloc(12, 7), additionalData: text("aad") }, key, text("secret")))
    raw("0123456789abcdef", "AES-GCM", ["encrypt", "decrypt"]).then(async (key) => { const a = { name: "AES-GCM", iv: Buffer.alloc(12, 7), tagLength: 96 }; return subtle.decrypt(a, key, await subtle.encrypt(a, key, text("secret"))); })
    raw("0123456789abcdef", "AES-GCM", ["decrypt"]).then((key) => named(subtle.decrypt({ name: "AES-GCM", iv: Buffer.alloc(12) }, key, Buffer.alloc(40))))
    raw("0123456789abcdef", "AES-CBC", ["encrypt", "decrypt"]).then((key) => subtle.encrypt({ name: "AES-CBC", iv: Buffer.alloc(16) }, key, text("secret")))
    raw("0123456789abcdef", "AES-CTR", ["encrypt"]).then((key) => subtle.encrypt({ name: "AES-CTR", counter: Buffer.alloc(16), length: 64 }, key, text("secret")))
    named(raw("short", "AES-GCM", ["encrypt"]))
    named(raw("0123456789abcdef", "AES-GCM", ["sign"]))
    named(raw("0123456789abcdef", "NOPE", ["sign"]))
    named(raw("0123456789abcdef", "AES-GCM", []))
    raw("secret", "HKDF", ["deriveBits"], false).then((key) => subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: text("salt"), info: text("info") }, key, 256))
    raw("secret", "PBKDF2", ["deriveBits", "deriveKey"], false).then((key) => subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: text("salt"), iterations: 10 }, key, 128))
    raw("secret", "PBKDF2", ["deriveBits", "deriveKey"], false).then((key) => subtle.deriveKey({ name: "PBKDF2", hash: "SHA-256", salt: text("salt"), iterations: 10 }, key, { name: "AES-GCM", length: 256 }, true, ["encrypt"])).then((key) => subtle.exportKey("jwk", key))
    named(raw("secret", "PBKDF2", ["deriveBits"], true))
    subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]).then(shown)
    subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]).then((key) => subtle.exportKey("jwk", key))
    subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]).then((key) => subtle.exportKey("pkcs8", key))
    subtle.importKey("jwk", { ...jwk, ext: false }, { name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]).then(shown)
    named(subtle.importKey("jwk", { ...jwk, crv: "P-384" }, { name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]))
    named(subtle.importKey("jwk", { kty: "EC" }, { name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]))
    named(subtle.importKey("pkcs8", Buffer.from("junk"), { name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]))
    named(subtle.importKey("spki", Buffer.alloc(300, 0x30), { name: "RSA-PSS", hash: "SHA-256" }, true, ["verify"]))
    Promise.all([["ECDSA", "P-256"], ["ECDSA", "P-384"], ["ECDH", "P-521"]].map(async ([name, namedCurve]) => { const pair = await subtle.generateKey({ name, namedCurve }, false, name === "ECDH" ? ["deriveBits"] : ["sign", "verify"]); return [shown(pair.publicKey), shown(pair.privateKey)]; }))
    subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]).then(async ({ privateKey, publicKey }) => { const a = { name: "ECDSA", hash: "SHA-256" }; return subtle.verify(a, publicKey, await subtle.sign(a, privateKey, text("m")), text("m")); })
    subtle.generateKey("Ed25519", true, ["sign", "verify"]).then(async ({ privateKey, publicKey }) => [shown(publicKey), await subtle.verify("Ed25519", publicKey, await subtle.sign("Ed25519", privateKey, text("m")), text("m"))])
    Promise.all([1, 2].map(() => subtle.generateKey("X25519", true, ["deriveBits"]))).then(async ([a, b]) => Buffer.compare(Buffer.from(await subtle.deriveBits({ name: "X25519", public: a.publicKey }, b.privateKey, 256)), Buffer.from(await subtle.deriveBits({ name: "X25519", public: b.publicKey }, a.privateKey, 256))))
    Promise.all([1, 2].map(() => subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveKey"]))).then(async ([a, b]) => shown(await subtle.deriveKey({ name: "ECDH", public: a.publicKey }, b.privateKey, { name: "AES-GCM", length: 256 }, false, ["encrypt"])))
    subtle.generateKey({ name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, true, ["sign", "verify"]).then(async ({ privateKey, publicKey }) => [shown(privateKey), await subtle.verify("RSASSA-PKCS1-v1_5", publicKey, await subtle.sign("RSASSA-PKCS1-v1_5", privateKey, text("m")), text("m"))])
    subtle.generateKey({ name: "RSA-PSS", modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, true, ["sign", "verify"]).then(async ({ privateKey, publicKey }) => subtle.verify({ name: "RSA-PSS", saltLength: 32 }, publicKey, await subtle.sign({ name: "RSA-PSS", saltLength: 32 }, privateKey, text("m")), text("m")))
    subtle.generateKey({ name: "RSA-OAEP", modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-1" }, true, ["encrypt", "decrypt"]).then(async ({ privateKey, publicKey }) => subtle.decrypt({ name: "RSA-OAEP", label: text("l") }, privateKey, await subtle.encrypt({ name: "RSA-OAEP", label: text("l") }, publicKey, text("m"))))
    subtle.generateKey(hmac, true, ["sign"]).then(shown)
    subtle.generateKey({ name: "AES-GCM", length: 256 }, true, ["encrypt"]).then(async (key) => [shown(key), (await subtle.exportKey("raw", key)).byteLength])
    named(subtle.generateKey({ name: "AES-GCM", length: 100 }, true, ["encrypt"]))
    [String(subtle), typeof CryptoKey, Object.keys(SubtleCrypto.prototype).includes("digest")]
    raw("key", hmac, ["sign"]).then((key) => [String(key), key instanceof CryptoKey, Object.keys(key), require("util").inspect(key), require("util").types.isCryptoKey(key)])
    named((async () => new CryptoKey())())
  `
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== ""),
};

const cells = oracle("thread", { subtle: SCRIPT });

describe("crypto.subtle", () => {
  it("answers as Node does", async () => {
    expect(await cells.differences("subtle")).toEqual([]);
  });
});

const JOBS = `
  const { subtle } = crypto;
  const said = (promise) => promise.then((value) => typeof value, (error) => error.name + ": " + error.message);
  api.on("message_sending", async (event) => {
    const [job, n, bits] = event.content.split(" ");
    const bytes = Buffer.from("x");
    if (job === "hmac") {
      const key = await subtle.importKey("raw", Buffer.from("key"), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
      return { content: Buffer.from(await subtle.sign("HMAC", key, bytes)).toString("hex") };
    }
    if (job === "sign") {
      const { publicKey, privateKey } = await subtle.generateKey("Ed25519", true, ["sign", "verify"]);
      const key = Buffer.from(await subtle.exportKey("spki", publicKey)).toString("base64");
      return { content: key + " " + Buffer.from(await subtle.sign("Ed25519", privateKey, bytes)).toString("base64") };
    }
    if (job === "rsa") return { content: await said(subtle.generateKey({ name: "RSA-PSS", modulusLength: Number(n), publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, true, ["sign"])) };
    if (job === "exponent") return { content: await said(subtle.generateKey({ name: "RSA-PSS", modulusLength: 1024, publicExponent: new Uint8Array([255, 255, 255, 255, 255]), hash: "SHA-256" }, true, ["sign"])) };
    if (job === "rounds") {
      const key = await subtle.importKey("raw", bytes, "PBKDF2", false, ["deriveBits"]);
      return { content: await said(subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: bytes, iterations: Number(n) }, key, Number(bits ?? 256))) };
    }
    if (job === "bytes") return { content: await said(subtle.digest("SHA-256", new Uint8Array(Number(n)))) };
    if (job === "many") {
      const all = await Promise.all(Array.from({ length: Number(n) }, () => subtle.digest("SHA-256", bytes).then(() => "ok", (error) => error.code)));
      return { content: JSON.stringify(Object.groupBy(all, (one) => one), (_, one) => Array.isArray(one) ? one.length : one) };
    }
    if (job === "loop") {
      for (let i = 0; i < 10; i++) void subtle.generateKey({ name: "RSA-PSS", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" }, true, ["sign"]).catch(() => {});
      await subtle.digest("SHA-256", bytes).catch(() => {});
      for (;;);
    }
  });`;

contract("crypto.subtle", (isolation) => {
  const shared = sharedHost(isolation, { plugins: [plugin("jobs", JOBS, { hooks: { cpuMs: 200, timeoutMs: 15_000 } })] });
  const ask = async (content: string) => {
    const { result, calls } = await shared.host.run("message_sending", { to: "x", content }, { channelId: "chat" });
    return result?.content ?? calls[0]?.error?.message;
  };

  it("a cell's signatures are good outside of it", async () => {
    expect(await ask("hmac")).toBe(createHmac("sha256", "key").update("x").digest("hex"));
    const [key, signature] = (await ask("sign"))!.split(" ").map((one) => Buffer.from(one, "base64"));
    expect(verify(null, Buffer.from("x"), { key: key!, format: "der", type: "spki" }, signature!)).toBe(true);
  });

  it("what would keep a thread for long is refused, with the limit", async () => {
    expect(await ask("rsa 16384")).toBe(`OperationError: inside the sandbox an RSA key may have ${LIMITS.subtle.modulusBits} bits`);
    expect(await ask("exponent")).toBe("OperationError: inside the sandbox an RSA key's exponent is 3 or 65537");
    expect(await ask(`rounds ${LIMITS.subtle.iterations + 1}`)).toBe(
      `OperationError: inside the sandbox PBKDF2 may have ${LIMITS.subtle.iterations} iterations`,
    );
    // PBKDF2 does its rounds once for each block of the hash's length.
    const tooMany = `OperationError: inside the sandbox PBKDF2 may have ${LIMITS.subtle.rounds} iterations over all blocks: ask for fewer bits`;
    expect(await ask(`rounds ${LIMITS.subtle.iterations} 512`)).toBe(tooMany);
    expect(await ask(`rounds 10000 ${LIMITS.subtle.derivedBits}`)).toBe(tooMany);
    expect(await ask("rounds 1000 65536")).toBe("object");
    expect(await ask(`bytes ${LIMITS.subtle.bytes + 1}`)).toBe(
      `OperationError: inside the sandbox crypto.subtle takes ${LIMITS.subtle.bytes} bytes at a time`,
    );
    expect(await ask(`bytes ${LIMITS.subtle.bytes}`)).toBe("object");
  });

  it("each is a host call of its call's budget", async () => {
    const { ok, ERR_SERVICE_BUDGET } = JSON.parse((await ask(`many ${LIMITS.call.hostCalls + 5}`))!) as Record<string, number>;
    expect([ok, ERR_SERVICE_BUDGET]).toEqual([LIMITS.call.hostCalls, 5]);
  });

  it("a cell that is replaced while it waits leaves nothing behind", async () => {
    expect(statuses(await shared.host.run("message_sending", { to: "x", content: "loop" }, { channelId: "chat" }))).toEqual(["jobs:cpu"]);
    expect(await ask("hmac")).toBe(createHmac("sha256", "key").update("x").digest("hex"));
  });
});

it("crypto.subtle works behind the walls", async () => {
  await using host = await open("process", { config: { sandbox: { walls: "auto" } }, plugins: [plugin("jobs", JOBS)] });
  const { result } = await host.run("message_sending", { to: "x", content: "sign" }, { channelId: "chat" });
  const [key, signature] = result!.content!.split(" ").map((one) => Buffer.from(one, "base64"));
  expect(verify(null, Buffer.from("x"), { key: key!, format: "der", type: "spki" }, signature!)).toBe(true);
});

function refusals(questions: readonly (readonly [string, string])[]): Promise<{ isOk: boolean; code: string }[]> {
  const service = new SubtleService();
  return Promise.all(
    questions.map(([operation, args]) => {
      const { promise, resolve } = Promise.withResolvers<{ isOk: boolean; code: string }>();
      service.request(operation, args, (isOk, text) => resolve({ isOk, code: (JSON.parse(text) as { code: string }).code }));
      return promise;
    }),
  );
}

const big = (bytes: number) => Buffer.alloc(bytes, 0xff).toString("base64url");

const PBKDF2 = (iterations: number) =>
  JSON.stringify({
    algorithm: { name: "PBKDF2", hash: { name: "SHA-256" }, salt: { base64: "" }, iterations },
    key: { type: "secret", algorithm: { name: "PBKDF2" }, usages: ["deriveBits"], material: "AA==" },
    length: 256,
  });

describe("the lane's service", () => {
  it("a digest does not wait behind the long work of other cells, which is done one at a time and is all theirs to pay", async () => {
    const order: string[] = [];
    const costs: number[] = [];
    const startedMs = performance.now();
    const long = Array.from({ length: 6 }, () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      new SubtleService().request("deriveBits", PBKDF2(400_000), (isOk, _text, tookMs) => {
        order.push(`long ${isOk}`);
        costs.push(tookMs);
        resolve();
      });
      return promise;
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    new SubtleService().request("digest", `{"algorithm":{"name":"SHA-256"},"data":"AA=="}`, (isOk) =>
      resolve(void order.push(`digest ${isOk}`)),
    );
    await Promise.all([...long, promise]);
    expect(order.indexOf("digest true")).toBeLessThanOrEqual(1);
    expect(order.filter((one) => one === "long true")).toHaveLength(6);
    // Nobody pays for having waited.
    expect(costs.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(1.5 * (performance.now() - startedMs));
  });

  it("long work is not started once its call has been given up", async () => {
    const [first, second] = [new SubtleService(), new SubtleService()];
    const fates = await Promise.all(
      [first, second].map((service) => {
        const { promise, resolve } = Promise.withResolvers<boolean>();
        service.request("deriveBits", PBKDF2(200_000), (isOk) => resolve(isOk));
        if (service === second) setTimeout(() => service.stop(), 5);
        return promise;
      }),
    );
    expect(fates).toEqual([true, false]);
  });

  it("junk is refused by a name of WebCrypto's", async () => {
    const answers = await refusals([
      ["nope", "{}"],
      ["constructor", "{}"],
      ["digest", "{"],
      ["digest", "null"],
      ["digest", `{"algorithm":{"name":"SHA-256"},"data":5}`],
      ["digest", `{"algorithm":{"name":"SHA-256","x":{"base64":5}},"data":""}`],
      ["digest", `{"algorithm":{"name":{"toString":1}},"data":""}`],
      ["sign", `{"algorithm":{"name":"HMAC"},"key":{"type":"__proto__"},"data":""}`],
      [
        "sign",
        `{"algorithm":{"name":"HMAC"},"key":{"type":"secret","algorithm":{"name":"HMAC","hash":{"name":"SHA-256"}},"usages":"x","material":"AA=="},"data":""}`,
      ],
      ["importKey", `{"format":"jwk","data":null,"algorithm":{"name":"ECDSA","namedCurve":"P-256"},"usages":[]}`],
      ["importKey", `{"format":{},"data":"","algorithm":{"name":"ECDSA"},"usages":[]}`],
      ["deriveBits", `{"algorithm":{"name":"ECDH","public":{"base64":"AA=="}},"key":{},"length":1e9}`],
      [
        "deriveBits",
        `{"algorithm":{"name":"PBKDF2","hash":{"name":"SHA-1"},"salt":{"base64":""},"iterations":1},"key":{"type":"secret","algorithm":{"name":"PBKDF2"},"usages":["deriveBits"],"material":"AA=="},"length":"4000000000"}`,
      ],
      ["digest", `"${"x".repeat(LIMITS.subtle.requestChars)}"`],
    ]);
    expect(answers.map(({ isOk }) => isOk)).toEqual(answers.map(() => false));
    for (const { code } of answers) expect(code).toMatch(/^subtle\.(?:Operation|Data|NotSupported|Syntax|Type|InvalidAccess)Error$/);
  });

  it("keys with numbers that only serve to keep a thread busy are refused, imported or made up", async () => {
    const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: { name: "SHA-256" } };
    const importing = (data: object | string, format = "jwk", usages = ["verify"]) =>
      ["importKey", JSON.stringify({ format, data, algorithm, extractable: true, usages })] as const;
    const signing = (type: string, material: string) =>
      ["sign", JSON.stringify({ algorithm, data: "", key: { type, algorithm, usages: ["sign"], material } })] as const;
    const answers = await refusals([
      importing({ kty: "RSA", n: big(1024), e: "AQAB" }),
      importing({ kty: "RSA", n: big(256), e: "AQAB", d: big(100_000) }, "jwk", ["sign"]),
      importing(big(LIMITS.subtle.keyChars), "spki"),
      signing("private", big(LIMITS.subtle.keyChars)),
    ]);
    expect(answers).toEqual(
      ["OperationError", "DataError", "DataError", "DataError"].map((name) => ({ isOk: false, code: `subtle.${name}` })),
    );
  });

  it("so many are worked at, the rest waits, and those that wait are dropped with the cell", async () => {
    const service = new SubtleService();
    const question = JSON.stringify({ algorithm: { name: "AES-GCM", length: 128 }, usages: ["encrypt"], extractable: true });
    const told: number[] = [];
    for (let i = 0; i < 5; i++) service.request("generateKey", question, () => told.push(i));
    service.stop();
    // Questions of the next cell come behind those that are still under way.
    await new Promise<void>((resolve) => {
      service.request("generateKey", question, () => resolve());
    });
    expect(told.toSorted((a, b) => a - b)).toEqual([0, 1]);
  });
});
