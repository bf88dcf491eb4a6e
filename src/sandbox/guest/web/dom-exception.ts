/** Inside the isolate: `DOMException`. */
import { cloneAs, constants, expose } from "./idl.ts";
import { str } from "./text.ts";

/** In the order of their codes, which begin at 1. An empty name: only the constant exists. */
const NAMES: readonly (readonly [constant: string, name: string])[] = [
  ["INDEX_SIZE_ERR", "IndexSizeError"],
  ["DOMSTRING_SIZE_ERR", ""],
  ["HIERARCHY_REQUEST_ERR", "HierarchyRequestError"],
  ["WRONG_DOCUMENT_ERR", "WrongDocumentError"],
  ["INVALID_CHARACTER_ERR", "InvalidCharacterError"],
  ["NO_DATA_ALLOWED_ERR", ""],
  ["NO_MODIFICATION_ALLOWED_ERR", "NoModificationAllowedError"],
  ["NOT_FOUND_ERR", "NotFoundError"],
  ["NOT_SUPPORTED_ERR", "NotSupportedError"],
  ["INUSE_ATTRIBUTE_ERR", "InUseAttributeError"],
  ["INVALID_STATE_ERR", "InvalidStateError"],
  ["SYNTAX_ERR", "SyntaxError"],
  ["INVALID_MODIFICATION_ERR", "InvalidModificationError"],
  ["NAMESPACE_ERR", "NamespaceError"],
  ["INVALID_ACCESS_ERR", "InvalidAccessError"],
  ["VALIDATION_ERR", ""],
  ["TYPE_MISMATCH_ERR", "TypeMismatchError"],
  ["SECURITY_ERR", "SecurityError"],
  ["NETWORK_ERR", "NetworkError"],
  ["ABORT_ERR", "AbortError"],
  ["URL_MISMATCH_ERR", "URLMismatchError"],
  ["QUOTA_EXCEEDED_ERR", "QuotaExceededError"],
  ["TIMEOUT_ERR", "TimeoutError"],
  ["INVALID_NODE_TYPE_ERR", "InvalidNodeTypeError"],
  ["DATA_CLONE_ERR", "DataCloneError"],
];
const CODES = new Map(NAMES.map(([, name], index) => [name, index + 1]));
CODES.delete("");

// oxlint-disable-next-line typescript/no-extraneous-class -- a base class may give an object of its own
class Given {
  constructor(error: object) {
    return error;
  }
}

/** Adds private fields to an existing error. */
class Fields extends Given {
  readonly #name: string;
  readonly #message: string;
  constructor(error: object, name: string, message: string) {
    super(error);
    this.#name = name;
    this.#message = message;
  }
  static nameOf(error: object): string {
    return (error as Fields).#name;
  }
  static messageOf(error: object): string {
    return (error as Fields).#message;
  }
}

export class DOMException {
  /** Gives real errors, for `Error.isError` and the debugger. */
  constructor(message: unknown = "", options: unknown = "Error") {
    const error = Object.setPrototypeOf(new Error(), new.target.prototype) as DOMException;
    let name = options;
    if (typeof options === "object" && options !== null) {
      name = "name" in options && options.name !== undefined ? options.name : "Error";
      if ("cause" in options) Object.defineProperty(error, "cause", { value: options.cause, writable: true, configurable: true });
    }
    // oxlint-disable-next-line no-new -- it adds to the error
    new Fields(error, str(name), str(message));
    Error.captureStackTrace(error, new.target);
    const { stack } = error as { stack?: string };
    // V8 leaves out a message that is not an own property.
    const frames = stack?.indexOf("\n    at ") ?? -1;
    const text = `${Error.prototype.toString.call(error)}${frames < 0 ? "" : stack!.slice(frames)}`;
    Object.defineProperty(error, "stack", { value: text, writable: true, configurable: true, enumerable: false });
    return error;
  }

  get name(): string {
    return Fields.nameOf(this);
  }
  get message(): string {
    return Fields.messageOf(this);
  }
  get code(): number {
    return CODES.get(Fields.nameOf(this)) ?? 0;
  }
}

Object.setPrototypeOf(DOMException.prototype, Error.prototype);
constants([DOMException, DOMException.prototype], Object.fromEntries(NAMES.map(([constant], index) => [constant, index + 1])));
expose(DOMException);
cloneAs<DOMException>(DOMException, ({ message, name }) => new DOMException(message, name));
