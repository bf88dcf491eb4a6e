/** TypeScript's language server, as an editor starts it: what is shown where the mouse is. */
import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const HEAD_END = "\r\n\r\n";

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly items?: readonly unknown[] };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

type Words = string | { readonly value: string };
const wordsOf = (words: Words | undefined): string => (typeof words === "string" ? words : (words?.value ?? ""));

export class LanguageServer implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #root: string;
  readonly #answers = new Map<number, PromiseWithResolvers<unknown>>();
  #unread = Buffer.alloc(0);
  #next = 1;

  static async in(root: string): Promise<LanguageServer> {
    const server = new LanguageServer(root);
    const hover = { contentFormat: ["plaintext"] };
    const completion = {
      completionItem: { documentationFormat: ["plaintext"], resolveSupport: { properties: ["documentation", "detail"] } },
    };
    const signatureHelp = { signatureInformation: { documentationFormat: ["plaintext"] } };
    const uri = pathToFileURL(root).href;
    await server.#ask("initialize", {
      processId: process.pid,
      rootUri: uri,
      workspaceFolders: [{ uri, name: "plugin" }],
      capabilities: { textDocument: { hover, completion, signatureHelp } },
    });
    server.#send({ method: "initialized", params: {} });
    return server;
  }

  private constructor(root: string) {
    this.#root = root;
    this.#child = spawn(process.execPath, [tsc, "--lsp", "--stdio"], { cwd: root, stdio: ["pipe", "pipe", "ignore"] });
    this.#child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#child.stdin.on("error", () => {});
    this.#child.once("exit", (code) => {
      for (const { reject } of this.#answers.values()) reject(new Error(`the language server has ended with ${code}`));
    });
  }

  open(file: string, text: string): void {
    this.#send({
      method: "textDocument/didOpen",
      params: { textDocument: { uri: this.#uri(file), languageId: "typescript", version: 1, text } },
    });
  }

  /** Over the first character of `words` in the file; empty: nothing is shown. */
  async hover(file: string, text: string, words: string): Promise<string> {
    return wordsOf(((await this.#ask("textDocument/hover", this.#at(file, text, words))) as { contents: Words } | null)?.contents);
  }

  /** The call that the first character of `words` is in, as an editor shows it while somebody writes: the chosen signature and its comment. */
  async signature(file: string, text: string, words: string): Promise<string> {
    const help = (await this.#ask("textDocument/signatureHelp", this.#at(file, text, words))) as {
      readonly signatures: readonly { readonly label: string; readonly documentation?: Words }[];
      readonly activeSignature?: number;
    } | null;
    const shown = help?.signatures[help.activeSignature ?? 0];
    return shown ? `${shown.label}\n${wordsOf(shown.documentation)}` : "";
  }

  /** Of what can be written at the first character of `words`: the labels, and the comment of the one that is called `label`. */
  async completion(file: string, text: string, words: string, label: string): Promise<{ labels: string[]; words: string }> {
    const list = (await this.#ask("textDocument/completion", this.#at(file, text, words))) as {
      readonly items: readonly { readonly label: string }[];
    } | null;
    const items = list?.items ?? [];
    const item = items.find((one) => one.label === label);
    const whole = item && ((await this.#ask("completionItem/resolve", item)) as { readonly documentation?: Words });
    return { labels: items.map((one) => one.label), words: wordsOf(whole?.documentation) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, "exit");
    await this.#ask("shutdown").catch(() => {});
    this.#send({ method: "exit" });
    this.#child.stdin.end();
    await ended;
  }

  #at(file: string, text: string, words: string): object {
    const before = text.slice(0, text.indexOf(words)).split("\n");
    return { textDocument: { uri: this.#uri(file) }, position: { line: before.length - 1, character: before.at(-1)!.length } };
  }

  #uri(file: string): string {
    return pathToFileURL(join(this.#root, file)).href;
  }

  #ask(method: string, params?: object): Promise<unknown> {
    const id = this.#next++;
    const answer = Promise.withResolvers<unknown>();
    this.#answers.set(id, answer);
    this.#send({ id, method, ...(params && { params }) });
    return answer.promise;
  }

  #send(message: object): void {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}${HEAD_END}${body}`);
  }

  #read(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    for (;;) {
      const end = this.#unread.indexOf(HEAD_END);
      if (end === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(this.#unread.toString("utf8", 0, end))![1]);
      const start = end + HEAD_END.length;
      if (this.#unread.length < start + length) return;
      this.#take(JSON.parse(this.#unread.toString("utf8", start, start + length)) as Message);
      this.#unread = this.#unread.subarray(start + length);
    }
  }

  #take({ id, method, params, result, error }: Message): void {
    // It asks for settings and registers for changes of files: there are none.
    if (method !== undefined && id !== undefined) return this.#send({ id, result: params?.items?.map(() => null) ?? null });
    const answer = this.#answers.get(id as number);
    this.#answers.delete(id as number);
    if (error) answer?.reject(new Error(error.message));
    else answer?.resolve(result);
  }
}
