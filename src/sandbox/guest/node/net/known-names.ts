/**
 * Inside the isolate: which name an address was looked up for. A client that resolves a name itself then connects to
 * the address; the host knows grants by name, and resolves the name again.
 */
const KEPT = 256;
const names = new Map<string, string>();

export function rememberName(address: string, name: string): void {
  names.delete(address);
  names.set(address, name);
  if (names.size > KEPT) names.delete(names.keys().next().value!);
}

export function nameOfAddress(address: string): string | undefined {
  return names.get(address);
}
