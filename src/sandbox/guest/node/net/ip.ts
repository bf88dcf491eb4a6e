/** Inside the isolate: which texts are IP addresses, as Node's `net.isIP` says. */
const V4_PART = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const V4 = new RegExp(`^(?:${V4_PART}\\.){3}${V4_PART}$`);
const GROUP = /^[\da-f]{1,4}$/i;

export function isIPv4(text: unknown): boolean {
  return V4.test(String(text));
}

export function isIPv6(given: unknown): boolean {
  const text = String(given);
  const [address = "", zone, ...more] = text.split("%");
  if (more.length > 0 || zone === "" || (zone !== undefined && !/^[\w.-]+$/.test(zone))) return false;
  const halves = address.split("::");
  if (halves.length > 2) return false;
  let count = 0;
  for (const [at, half] of halves.entries()) {
    if (half === "") continue;
    const groups = half.split(":");
    const last = groups.at(-1)!;
    if (last.includes(".")) {
      if (at !== halves.length - 1 || !isIPv4(last)) return false;
      groups.pop();
      count += 2;
    }
    if (!groups.every((group) => GROUP.test(group))) return false;
    count += groups.length;
  }
  return halves.length === 2 ? count <= 7 : count === 8;
}

export function isIP(text: unknown): 0 | 4 | 6 {
  if (isIPv4(text)) return 4;
  return isIPv6(text) ? 6 : 0;
}
