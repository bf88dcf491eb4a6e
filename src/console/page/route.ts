/** The page: where it is. The address holds the view and its filters, so that Back works and a colleague can be sent a link. */
import { signal } from "@preact/signals";

export interface Route {
  /** Such as `runs` or `run`. */
  readonly view: string;
  /** Such as the id of a run. */
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
}

export const route = signal<Route>(read());

function read(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...rest] = path.split("/");
  return { view: view || "overview", id: rest.map(decoded).join("/"), query: Object.fromEntries(new URLSearchParams(query)) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function followAddress(): void {
  addEventListener("hashchange", () => (route.value = read()));
  route.value = read();
}

export function href(view: string, id = "", query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "");
  const search = given.length > 0 ? `?${new URLSearchParams(given).toString()}` : "";
  return `#/${view}${id === "" ? "" : `/${encodeURIComponent(id)}`}${search}`;
}

export function go(address: string): void {
  location.hash = address;
}

/** Changes one filter without a step in the history per letter. */
export function setQuery(name: string, value: string): void {
  const { view, id, query } = route.value;
  history.replaceState(undefined, "", href(view, id, { ...query, [name]: value || undefined }));
  route.value = read();
}
